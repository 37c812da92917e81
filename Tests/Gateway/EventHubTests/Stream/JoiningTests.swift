internal import Changes
internal import JSONText
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct JoiningTests {
    private let quotes = SubscriptionProperties.quotes

    @Test func firstEventHasIdSourcesAndRetryTime() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s"))
        let first = try #require(try stream.events.first)
        #expect(first.name == "stream")
        #expect(first.id == nil)
        #expect(first["stream"]?.string == stream.subscriber.id)
        #expect(first["resume"] == "fresh")
        #expect(
            first["sources"] == [
                [
                    "subscription": "s", "mode": "MERGE", "client": "c", "status": "CONNECTED:WS-STREAMING",
                    "active": true, "subscribed": false, "lastError": .null,
                ]
            ]
        )
        let text = try stream.text
        #expect(text.hasPrefix("retry: "))
        #expect(try stream.events.count == 1)
    }

    @Test func streamFromTheStartReceivesEveryEvent() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s"))
        harness.publish(quotes.subscribed)
        harness.deliver(quotes.update(["1", "2", "3"], snapshot: true))
        harness.deliver(quotes.update(["4", "2", "3"], changed: [1]))
        #expect(try stream.names == ["subscribed", "update", "update"])
        let ids = try stream.events.dropFirst().map(\.id)
        #expect(ids == ["e1-1", "e1-2", "e1-3"])
    }

    @Test func aLateJoinerGetsTheStateThenItsEndThenWhatFollows() throws {
        let harness = HubHarness.with()
        harness.publish(quotes.subscribed)
        harness.publish(quotes.update(["1", "2", "3"], snapshot: true))
        harness.publish(quotes.update(["4", "2", "3"], changed: [1]))
        let stream = try harness.open(.subscription("s"))
        harness.deliver(quotes.update(["5", "2", "3"], changed: [1]))
        #expect(try stream.names == ["update", "end-of-snapshot", "update"])
        let snapshot = try stream.events[1]
        #expect(snapshot["snapshot"] == true)
        #expect(snapshot["fields"] == ["x": "4", "y": "2", "z": "3"])
        #expect(try stream.events[3]["fields"] == ["x": "5"])
    }

    @Test func theFirstEventTellsAJoinerWhatEarlierReadersWereTold() throws {
        let harness = HubHarness()
        let rows = SubscriptionProperties.portfolio
        harness.addSubscription("s", rows)
        let early = try harness.open(.subscription("s"))
        harness.publish(rows.subscribed)
        harness.deliver(.realMaxFrequency(.limited(2)))
        let late = try harness.open(.subscription("s"))
        let source = try #require(try late.events[0]["sources"]?.array?.first)
        let members = ["itemCount", "fieldCount", "keyPosition", "commandPosition", "fieldKeys"]
        let subscribed = try #require(try early.events.first { $0.name == "subscribed" })
        for member in members { #expect(source[member] != nil && source[member] == subscribed[member]) }
        #expect(source["keyPosition"] == 1)
        #expect(source["realMaxFrequency"] == 2)
        let before = try #require(try early.events[0]["sources"]?.array?.first)
        #expect((members + ["realMaxFrequency"]).allSatisfy { before[$0] == nil })
    }

    @Test func joinerReceivesNoEndOfAnIncompleteSnapshot() throws {
        let harness = HubHarness()
        let rows = SubscriptionProperties.portfolio
        harness.subscribe("s", rows)
        harness.publish(rows.update(["k", "ADD", "1"], snapshot: true))
        let early = try harness.open(.subscription("s"))
        harness.deliver(.endOfSnapshot(itemPos: 1))
        let late = try harness.open(.subscription("s"))
        #expect(try early.names == ["update", "end-of-snapshot"])
        #expect(try late.names == ["update", "end-of-snapshot"])
    }

    @Test func chatMessagesAreInTheSnapshotOfLaterSubscriptions() throws {
        let harness = HubHarness()
        let chat = SubscriptionProperties.chat
        harness.subscribe("s", chat)
        harness.publish(chat.update(["one"], snapshot: true))
        harness.publish(.endOfSnapshot(itemPos: 1))
        harness.publish(chat.update(["two"]))
        let stream = try harness.open(.subscription("s"))
        let texts = try stream.events.compactMap { $0["fields"]?["text"]?.string }
        #expect(texts == ["one", "two"])
        #expect(try stream.names.last == "end-of-snapshot")
    }

    @Test func unknownSourcesAreRefused() throws {
        let harness = HubHarness()
        #expect(throws: HubError.unknownSource(.subscription("x"))) { try harness.open(.subscription("x")) }
        #expect(harness.hub.streams().isEmpty)
    }

    @Test func clientErrorsReachStreamsOfItsSubscriptions() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s"))
        harness.hub.take(.client("c", .event(.status(.stalled))))
        harness.hub.take(.client("c", .event(.property(name: "sessionId", value: .null))))
        harness.hub.take(.client("c", .event(.serverError(code: 5, message: "no"))))
        harness.pass()
        #expect(try stream.names == ["status", "server-error"])
        #expect(try stream.events[1].data == ["client": "c", "status": "STALLED"])
    }

    @Test func aStreamLearnsWhyTheServerRefusedOrRemovedItsSource() throws {
        let harness = HubHarness.with()
        func state() throws -> JSONValue? {
            let stream = try harness.open(.subscription("s"))
            defer { harness.close(stream) }
            return try stream.events[0]["sources"]?.array?.first
        }
        harness.publish(.failed(code: 21, message: "bad group"))
        #expect(try state()?["lastError"] == ["code": 21, "message": "bad group"])
        #expect(try state()?["active"] == false)
        harness.hub.take(.subscription("s", .carried(by: nil)))
        #expect(try state()?["client"] == .null)
        #expect(try state()?["status"] == .null)
        harness.hub.take(.subscription("s", .activity(isActive: true)))
        #expect(try state()?["lastError"] == .null)
        harness.publish(.failed(code: 61, message: "Removed by the server"))
        harness.publish(.unsubscribed(isFinal: true))
        #expect(try state()?["lastError"]?["code"] == 61)
        harness.hub.take(.subscription("s", .activity(isActive: true)))
        harness.publish(.unsubscribed(isFinal: true))
        #expect(try state()?["lastError"] == .null)
    }

    @Test func subscriptionCarriedLaterDeliversPresentValues() throws {
        let harness = HubHarness()
        harness.hub.take(.client("c", .added(.disconnected)))
        harness.hub.take(.subscription("s", .added(quotes)))
        let stream = try harness.open(.subscription("s"))
        var table = ValueTable(properties: quotes)
        table.apply(quotes.subscribed)
        table.apply(quotes.update(["1", "2", "3"], item: 2, snapshot: true))
        harness.hub.take(
            [.subscription("s", .carried(by: "c"))] + table.eventsFromStart.map { .subscription("s", .event($0)) }
        )
        harness.hub.take(.client("c", .event(.status(.stalled))))
        harness.pass()
        #expect(try stream.names == ["subscribed", "update", "status"])
        #expect(try stream.events[2]["client"] == "c")
    }

    /// The row is new to the stream, and its fields are those that readers from the start and of `GET …/values` have: a later
    /// update does not change the command.
    @Test(arguments: [true, false])
    func rowsOfAJoinerHaveTheCommandOfTheTable(conflates: Bool) throws {
        let rows = SubscriptionProperties.portfolio
        let harness = HubHarness.with("s", rows)
        let early = try harness.open(.subscription("s")) { $0.conflates = conflates }
        harness.publish(rows.subscribed)
        harness.publish(rows.update(["k", "ADD", "0"]))
        harness.deliver(rows.update(["k", "UPDATE", "1"], changed: [2, 3]))
        let late = try harness.open(.subscription("s")) { $0.conflates = conflates }
        #expect(try late.events.last { $0.name == "update" }?["command"] == "ADD")
        #expect(try TableReader(late.events).rows == ["1/k": ["key": "k", "command": "UPDATE", "qty": "1"]])
        harness.deliver(rows.update(["k", "UPDATE", "2"], changed: [3]))
        #expect(try late.events.last?["command"] == "UPDATE")
        #expect(try TableReader(late.events).rows == TableReader(early.events).rows)
    }

    /// Another gateway, and another client that carries the subscription, have the commands of the table.
    @Test func presentValuesOfASubscriptionHaveItsCommands() {
        let rows = SubscriptionProperties.portfolio
        var (table, copy) = (ValueTable(properties: rows), ValueTable(properties: rows))
        for event in [rows.subscribed, rows.update(["k", "ADD", "0"]), rows.update(["k", "UPDATE", "1"])] {
            table.apply(event)
        }
        for event in table.eventsFromStart { copy.apply(event) }
        #expect(copy.row(item: 1, key: "k") == ["k", "UPDATE", "1"])
    }

    @Test func linesOfJSONAndAllFieldsAreWrittenOnceForAll() throws {
        let harness = HubHarness.with()
        let plain = try harness.open(.subscription("s"))
        let lines = try harness.open(.subscription("s")) {
            $0.format = .ndjson
            $0.sendsAllFields = true
        }
        let bare = try harness.open(StreamRequest(sources: [.subscription("s")]), isChunked: false)
        harness.deliver(quotes.update(["1", "2", "3"], changed: [2]))
        #expect(try plain.events.last?.data["values"] == nil)
        #expect(try lines.events.last?["values"] == ["x": "1", "y": "2", "z": "3"])
        #expect(try lines.events.last?.id == "e1-1")
        #expect(try bare.text.hasSuffix("\n\n"))
        #expect(try bare.events.last?.data == plain.events.last?.data)
    }

    @Test func aReaderThatKeepsUpGetsABurstAsOnePiece() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s"))
        for number in 0..<200 { harness.publish(quotes.update(["\(number)", "", ""])) }
        harness.pass()
        let before = stream.pieces
        for number in 0..<20 { harness.publish(quotes.update(["\(number)", "", ""])) }
        harness.pass()
        #expect(stream.pieces == before + 1)
        #expect(stream.subscriber.figures.delivered == 220)
        #expect(stream.subscriber.figures.conflated.count == 0)
        #expect(stream.subscriber.figures.lag == 0)
        #expect(harness.hub.metrics.delivered.count == 220)
    }
}
