internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct TypedEventsTests {
    private static let types: FieldTypes = ["s": [.number, .timestampMilliseconds, .boolean]]
    private let properties = SubscriptionProperties.quotes
    private let harness = HubHarness()

    init() { harness.addSubscription() }

    private func publish(_ values: [String?], to id: SubscriptionID = "s") {
        harness.publish(properties.update(values), to: id)
    }

    private func openTyped(_ change: (inout StreamRequest) -> Void = { _ in }) throws -> TestStream {
        try harness.open(.subscription("s")) {
            $0.types = Self.types
            change(&$0)
        }
    }

    private func fields(_ stream: TestStream) throws -> [String] {
        try stream.events.compactMap { $0.name == "update" ? $0["fields"]?.text : nil }
    }

    private static let typed = #"{"x":23.910,"y":"2023-11-14T22:13:20.123Z","z":true}"#
    private static let text = #"{"x":"23.910","y":"1700000000123","z":"1"}"#

    private func publishOne() { publish(["23.910", "1700000000123", "1"]) }

    @Test func eventsOfATypedStreamAreEncodedOnceForAllItsReaders() throws {
        let streams = try [openTyped(), openTyped(), harness.open(.subscription("s"))]
        publishOne()
        harness.pass()
        #expect(try streams.map(fields) == [[Self.typed], [Self.typed], [Self.text]])
        #expect(streams.map(\.broadcasts) == [1, 1, 1])
    }

    @Test func nullStaysNullAndValuesOfOtherTypesAreTextAndNamed() throws {
        let stream = try openTyped { $0.sendsAllFields = true }
        publish(["n/a", nil, "maybe"])
        harness.pass()
        #expect(try fields(stream) == [#"{"x":"n/a","y":null,"z":"maybe"}"#])
        #expect(try stream.events.last?["invalid"]?.text == #"["x","z"]"#)
        #expect(harness.hub.invalidValues == 2)
        publish(["1", nil, "0"])
        harness.pass()
        #expect(try stream.events.last?["invalid"] == nil)
        #expect(try stream.events.last?["values"]?.text == #"{"x":1,"y":null,"z":false}"#)
    }

    /// As a faulty member of a cluster may report them.
    @Test func valuesOfFieldsWithoutNamesAreNamedByTheirPositions() throws {
        let stream = try openTyped()
        var fewer = properties
        fewer.fields = .list(["x"])
        harness.hub.take(.subscription("s", .propertiesChanged(fewer)))
        publish(["1", "n/a", "maybe"])
        harness.pass()
        #expect(try fields(stream) == [#"{"x":1,"2":"n/a","3":"maybe"}"#])
        #expect(try stream.events.last?["invalid"]?.text == #"["2","3"]"#)
    }

    @Test func snapshotsAndConflatedUpdatesAreTyped() throws {
        publishOne()
        let late = try openTyped()
        #expect(try fields(late) == [Self.typed])
        for number in 0..<200 { publish(["\(number)", "x", nil]) }
        harness.pass()
        let last = try #require(try late.events.last)
        #expect(last["fields"]?["x"]?.number?.intValue == 199)
        #expect(last["invalid"]?.text == #"["y"]"#)
    }

    @Test func eventsFromBeforeTheFirstTypedReaderAreTypedAfterAResume() throws {
        let first = try harness.open(.subscription("s"))
        publish(["1", nil, nil])
        harness.pass()
        let id = try #require(try first.events.last?.id)
        publishOne()
        harness.pass()
        let resumed = try openTyped { $0.lastEventID = id }
        #expect(try fields(resumed) == [Self.typed])
    }

    @Test(arguments: [true, false])
    func eachSourceHasItsOwnFormInOneStream(startsTyped: Bool) throws {
        harness.addSubscription("t", client: "d")
        let types: FieldTypes = ["t": [.integer, .string, .string]]
        let stream = try startsTyped ? openTyped() : harness.open(.subscription("s"))
        let other = try harness.open(.subscription("t")) { if startsTyped { $0.types = [:] } else { $0.types = types } }
        try harness.hub.change(
            stream: stream.subscriber.id,
            add: [.subscription("t")],
            remove: [],
            types: startsTyped ? [:] : types
        )
        harness.pass()
        publishOne()
        publish(["6", "7", nil], to: "t")
        harness.pass()
        let second = startsTyped ? #"{"x":"6","y":"7","z":null}"# : #"{"x":6,"y":"7","z":null}"#
        #expect(try fields(stream) == [startsTyped ? Self.typed : Self.text, second])
        #expect(try fields(other) == [second])
        let broadcasts = stream.broadcasts
        publish(["24", nil, nil])
        publish(["8", "7", nil], to: "t")
        harness.pass()
        #expect(stream.broadcasts == broadcasts + 1)
        let last = try stream.events.suffix(2).map { $0["fields"]?["x"]?.text }
        #expect(last == (startsTyped ? ["24", #""8""#] : [#""24""#, "8"]))
    }

    @Test func subscriptionThatWasRemovedIsAddedInAnotherForm() throws {
        let stream = try harness.open(.subscription("s"))
        try harness.hub.change(stream: stream.subscriber.id, add: [.subscription("s")], remove: [], types: Self.types)
        publishOne()
        harness.pass()
        try harness.hub.change(stream: stream.subscriber.id, add: [], remove: [.subscription("s")])
        try harness.hub.change(stream: stream.subscriber.id, add: [.subscription("s")], remove: [], types: Self.types)
        harness.pass()
        #expect(try fields(stream) == [Self.text, Self.typed])
    }

    @Test func sourcesThatAreAddedLaterAreTypedToo() throws {
        harness.addSubscription("t", client: "d")
        publish(["5", nil, nil], to: "t")
        let stream = try openTyped()
        try harness.hub.change(
            stream: stream.subscriber.id,
            add: [.subscription("t")],
            remove: [],
            types: ["t": [.integer, .string, .string]]
        )
        harness.pass()
        publish(["6", "7", nil], to: "t")
        harness.pass()
        #expect(try fields(stream) == [#"{"x":5,"y":null,"z":null}"#, #"{"x":6,"y":"7","z":null}"#])
    }
}
