import Changes
import JSONText
import SessionCore
import TestSupport
import Testing

@testable import Replication

struct RecordCodecTests {
    private static let layout = SubscriptionLayout(itemNames: ["i"], fieldNames: ["a", "b"], fieldCount: 2)

    private static func failure(code: Int?, nextAttempt: String?) -> LastFailure {
        LastFailure(
            reason: "refused",
            code: code,
            detail: "d",
            since: "2026-01-01T00:00:00Z",
            attempts: 3,
            nextAttempt: nextAttempt
        )
    }

    private static var changes: [Change] {
        var properties = SubscriptionProperties(mode: .command, items: .group("g"), fields: .list(["key", "command"]))
        properties.dataAdapter = "A"
        properties.selector = "s"
        properties.requestedSnapshot = .length(7)
        properties.requestedMaxFrequency = .limited(2.5)
        properties.requestedBufferSize = .limited(3)
        properties.secondLevelFields = .group("x")
        properties.secondLevelDataAdapter = ""
        let update = ItemUpdate(
            layout: layout,
            itemPos: 1,
            isSnapshot: true,
            values: ["", nil],
            changed: FieldSet(all: 1),
            patches: [2: "[]"]
        )
        let events: [SubscriptionEvent] = [
            .subscribed(itemCount: 1, fieldCount: 2, keyPosition: 1, commandPosition: nil),
            .unsubscribed(isFinal: true), .failed(code: -3, message: "é"), .update(update), .endOfSnapshot(itemPos: 2),
            .clearSnapshot(itemPos: 1), .lostUpdates(count: 9, itemPos: 1),
            .secondLevelFailed(code: 1, message: "m", key: "k"), .secondLevelLostUpdates(count: 2, key: ""),
            .realMaxFrequency(nil), .realMaxFrequency(.unlimited), .realMaxFrequency(.limited(0.5)),
        ]
        let legacy: [LegacyEvent] = [
            .connectionEstablished, .closed, .ended(cause: -7), .connectionFailed(reason: "r"),
            .serverFailed(code: 2, message: "m", isRetried: true), .badData(reason: "d"),
            .deviceRegistered(DeviceTokenInfo(deviceID: "d", adapterName: "a")), .deviceRefused(code: 45, message: "m"),
            .badgeReset(deviceId: nil, code: 4, message: "m"),
        ]
        let clientEvents: [ClientTopicEvent] = [
            .status(.stalled),
            .status(.disconnectedWillRetry, failure: failure(code: 502, nextAttempt: "2026-01-01T00:00:04Z")),
            .status(.connecting, failure: failure(code: nil, nextAttempt: nil)), .serverError(code: 1, message: "m"),
            .property(name: "p", value: nil),
            .property(name: "p", value: ["a": [1, nil, true]]), .message(id: "m", .processed(response: "r")),
            .message(id: "m", .denied(code: -1, message: "")), .message(id: "m", .discarded),
            .message(id: "m", .failed), .message(id: "m", .aborted(sentOnNetwork: true)),
            .sessionStarted(polling: true), .bytesReceived(3), .activityWarning(false),
        ]
        let topics: [Change] = [
            .client("c", .added(.connecting)), .client("c", .removed), .subscription("s", .added(properties)),
            .subscription("s", .removed), .subscription("s", .propertiesChanged(properties)),
            .subscription("s", .carried(by: nil)), .subscription("s", .carried(by: "c")),
            .subscription("s", .activity(isActive: true)),
        ]
        let ofSubscription = events.map { Change.subscription("s", .event($0)) }
        let ofClient = (clientEvents + legacy.map { .legacy($0) }).map { Change.client("c", .event($0)) }
        return topics + ofSubscription + ofClient
    }

    @Test(arguments: changes)
    func changeIsReadAsItWasWritten(change: Change) throws {
        let record = ClusterRecord.change(change, term: 300)
        let read = try ClusterRecord.read(record.body[...]) { _ in Self.layout }
        #expect(read == record)
    }

    @Test(arguments: [
        ClusterRecord.session(client: "c", OfferedUpstreamSession(content: [0, 255], processed: 300)),
        .session(client: "c", nil), .upstreamNumber(id: "s", term: 300, number: 7),
        .change(.subscription("s", .event(.endOfSnapshot(itemPos: 2))), term: 9, number: 300),
    ])
    func recordOfASessionIsReadAsItWasWritten(record: ClusterRecord) throws {
        let body = record.body
        #expect(try ClusterRecord.read(body[...]) { _ in nil } == record)
        for count in body.indices {
            let read = try? ClusterRecord.read(body[..<count]) { _ in nil }
            #expect(read == nil)
        }
    }

    @Test(arguments: changes)
    func everyShorterRecordIsRejected(change: Change) {
        let body = ClusterRecord.change(change, term: 1).body
        for count in body.indices {
            let read = try? ClusterRecord.read(body[..<count]) { _ in Self.layout }
            #expect(read == nil)
        }
    }

    @Test(
        arguments: [
            (-1, 1, nil, nil), (1, -1, nil, nil), (1 << 20 + 1, 1, nil, nil), (.max, .max, nil, nil),
            (1, 1 << 16 + 1, nil, nil),
            (1 << 20, 5, nil, nil), (1, 2, 0, 2), (1, 2, 1, 3), (1, 2, .min, 2), (1, 0, 1, nil),
        ] as [(Int, Int, Int?, Int?)]
    )
    func countsThatNoServerMayAnnounceAreRejected(items: Int, fields: Int, key: Int?, command: Int?) {
        let event = SubscriptionEvent.subscribed(
            itemCount: items,
            fieldCount: fields,
            keyPosition: key,
            commandPosition: command
        )
        let record = ClusterRecord.change(.subscription("s", .event(event)), term: 1)
        let read = try? ClusterRecord.read(record.body[...]) { _ in nil }
        #expect(read == nil)
    }

    @Test(arguments: [(-1, nil), (.max, nil), (2, 3), (2, 0)] as [(Int, Int?)])
    func stateWithCountsThatNoServerMayAnnounceIsRejected(fields: Int, key: Int?) {
        var ledger = ClusterLedger(epoch: 1, position: 1, groups: 1)
        var entry = ClusterLedger.SubscriptionEntry(properties: Wire<SubscriptionProperties>.blank)
        entry.layout = SubscriptionLayout(itemNames: nil, fieldNames: nil, fieldCount: fields, keyPosition: key)
        ledger.subscriptions["s"] = entry
        let bytes = ClusterSnapshot(created: "x", ledger: ledger, tables: [:]).bytes(in: 2)
        #expect(throws: CodingError.self) { try ClusterSnapshot(bytes) }
    }

    @Test(arguments: [(1 << 20, 4), (1 << 6, 1 << 16), (0, 0)])
    func theGreatestCountsAreRead(items: Int, fields: Int) throws {
        let position = fields > 0 ? fields : nil
        let event = SubscriptionEvent.subscribed(
            itemCount: items,
            fieldCount: fields,
            keyPosition: position,
            commandPosition: position
        )
        let record = ClusterRecord.change(.subscription("s", .event(event)), term: 1)
        #expect(try ClusterRecord.read(record.body[...]) { _ in nil } == record)
    }

    @Test
    func specificationIsReadAsItWasWritten() throws {
        var specification = ResourceSpecification(group: "c1", upstream: nil, content: [1, 2, 0])
        for owner in [nil, "key:a"] {
            specification.owner = owner
            specification.upstream = owner.map { _ in "demo" }
            let record = ClusterRecord.specify(id: "s1", specification)
            let read = try ClusterRecord.read(record.body[...]) { _ in nil }
            #expect(read == record)
            for count in record.body.indices {
                let shorter = try? ClusterRecord.read(record.body[..<count]) { _ in nil }
                #expect(shorter == nil)
            }
        }
    }
}
