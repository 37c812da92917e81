internal import Changes
internal import JSONText
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct EventEncoderTests {
    private static let sse = EventVariant(format: .serverSentEvents, sendsAllFields: false)
    private static let subscription = TopicContext(subscription: "s1", client: "c1", properties: .quotes)
    private static let client = TopicContext(client: "c1")

    private func data(
        _ event: HubEvent,
        _ context: TopicContext = subscription,
        sendsAllFields: Bool = false
    ) -> String {
        var encoder = EventEncoder(epoch: "e")
        let variant = EventVariant(format: .serverSentEvents, sendsAllFields: sendsAllFields)
        encoder.encode(event, sequence: 7, of: context, as: variant)
        let lines = String(decoding: encoder.json.bytes, as: UTF8.self).split(separator: "\n")
        return lines.last.map { String($0.dropFirst("data: ".count)) } ?? ""
    }

    private func frame(_ event: HubEvent, _ format: EventFormat) -> String {
        var encoder = EventEncoder(epoch: "e")
        let variant = EventVariant(format: format, sendsAllFields: false)
        encoder.encode(event, sequence: 7, of: Self.client, as: variant)
        return String(decoding: encoder.json.bytes, as: UTF8.self)
    }

    @Test func framesServerSentEvents() {
        let expected = """
            event: status
            id: e-7
            data: {"client":"c1","status":"CONNECTED:WS-STREAMING"}


            """
        #expect(frame(.client(.status(.connectedWSStreaming)), .serverSentEvents) == expected)
    }

    @Test func framesLinesOfJSON() {
        let expected = #"{"event":"status","id":"e-7","data":{"client":"c1","status":"STALLED"}}"# + "\n"
        #expect(frame(.client(.status(.stalled)), .ndjson) == expected)
    }

    @Test(arguments: [
        (ClientTopicEvent.serverError(code: 5, message: "a\"b\n"), #"{"client":"c1","code":5,"message":"a\"b\n"}"#),
        (.property(name: "idleTimeout", value: 19), #"{"client":"c1","property":"idleTimeout","value":19}"#),
        (.property(name: "sessionId", value: .null), #"{"client":"c1","property":"sessionId","value":null}"#),
        (.property(name: "password", value: nil), #"{"client":"c1","property":"password"}"#),
        (
            .message(id: "m", .processed(response: "")),
            #"{"client":"c1","message":"m","outcome":"processed","response":""}"#
        ),
        (
            .message(id: "m", .denied(code: -3, message: "no")),
            #"{"client":"c1","message":"m","outcome":"denied","code":-3,"error":"no"}"#
        ),
        (.message(id: "m", .discarded), #"{"client":"c1","message":"m","outcome":"discarded"}"#),
        (.message(id: "m", .failed), #"{"client":"c1","message":"m","outcome":"failed"}"#),
        (
            .message(id: "m", .aborted(sentOnNetwork: true)),
            #"{"client":"c1","message":"m","outcome":"aborted","sentOnNetwork":true}"#
        ),
        (.sessionStarted(polling: true), #"{"client":"c1","polling":true}"#),
        (.bytesReceived(12), #"{"client":"c1","bytes":12}"#),
        (.legacy(.closed), #"{"client":"c1"}"#),
        (.legacy(.badgeReset(deviceId: "d", code: nil, message: nil)), #"{"client":"c1","succeeded":true}"#),
    ])
    func encodesEventsOfClients(event: ClientTopicEvent, expected: String) {
        #expect(data(.client(event), Self.client) == expected)
    }

    @Test(arguments: [
        (
            SubscriptionProperties.quotes.subscribed,
            #""itemCount":2,"fieldCount":3,"keyPosition":null,"commandPosition":null,"fieldKeys":"name""#
        ),
        (.endOfSnapshot(itemPos: 2), #""item":"b","itemPos":2"#),
        (.clearSnapshot(itemPos: 1), #""item":"a","itemPos":1"#),
        (.lostUpdates(count: 3, itemPos: 1), #""item":"a","itemPos":1,"count":3,"by":"server""#),
        (
            .failed(code: 17, message: "bad"),
            #""code":17,"message":"bad","type":"about:blank","detail":"The server responded with 17: bad.""#
        ),
        (.secondLevelFailed(code: 14, message: "bad", key: "k"), #""key":"k","code":14,"message":"bad""#),
        (.secondLevelLostUpdates(count: 2, key: "k"), #""key":"k","count":2"#),
        (.realMaxFrequency(.limited(2.5)), #""value":2.5"#),
        (.realMaxFrequency(.limited(2)), #""value":2"#),
        (.realMaxFrequency(.unlimited), #""value":"unlimited""#),
        (.realMaxFrequency(nil), #""value":null"#),
    ])
    func encodesEventsOfSubscriptions(event: SubscriptionEvent, members: String) {
        #expect(data(.subscription(event)) == #"{"client":"c1","subscription":"s1",\#(members)}"#)
    }

    @Test func unsubscribedTellsWhetherTheSubscriptionIsActive() {
        for isFinal in [true, false] {
            let members = #"{"client":"c1","subscription":"s1","active":\#(!isFinal)}"#
            #expect(data(.subscription(.unsubscribed(isFinal: isFinal))) == members)
        }
    }

    @Test func updatesListTheChangedFields() {
        let event = SubscriptionProperties.quotes.update(["1", nil, "3"], item: 2, changed: [1, 2], snapshot: true)
        let common = #"{"client":"c1","subscription":"s1","item":"b","itemPos":2,"snapshot":true"#
        #expect(data(.subscription(event)) == common + #","fields":{"x":"1","y":null}}"#)
        #expect(
            data(.subscription(event), sendsAllFields: true)
                == common + #","fields":{"x":"1","y":null},"values":{"x":"1","y":null,"z":"3"}}"#
        )
    }

    @Test func patchesAreArraysOnOneLine() {
        let patch = "[{\"op\":\"remove\",\n\"path\":\"/a\"}]"
        let event = SubscriptionProperties.quotes.update(["{}", "1", "2"], changed: [1], patches: [1: patch, 3: "[]"])
        let expected = #""patches":{"x":[{"op":"remove", "path":"/a"}],"z":[]}}"#
        #expect(data(.subscription(event)).hasSuffix(expected))
    }

    @Test func commandUpdatesAlwaysHaveKeyAndCommand() {
        let context = TopicContext(subscription: "s1", client: "c1", properties: .portfolio)
        let event = SubscriptionProperties.portfolio.update([nil, "ADD", "5"], changed: [3])
        #expect(data(.subscription(event), context).hasSuffix(#""key":null,"command":"ADD","fields":{"qty":"5"}}"#))
    }

    @Test func conflatedUpdatesHaveTheirCount() {
        let context = TopicContext(subscription: "s1", client: "c1", properties: .portfolio)
        guard case .update(let first) = SubscriptionProperties.portfolio.update(["k", "ADD", "5"], snapshot: true),
            case .update(let second) = SubscriptionProperties.portfolio.update(["k", "UPDATE", "6"], changed: [2, 3])
        else { return }
        var update = ConflatedUpdate(first)
        update.add(second)
        var encoder = EventEncoder(epoch: "e")
        encoder.encode(update, sequence: 9, of: context, as: EventVariant(format: .ndjson, sendsAllFields: false))
        let members =
            #""item":"p","itemPos":1,"snapshot":true,"key":"k","command":"ADD","#
            + #""fields":{"key":"k","command":"UPDATE","qty":"6"},"conflated":2"#
        #expect(
            String(decoding: encoder.json.bytes, as: UTF8.self)
                == #"{"event":"update","id":"e-9","data":{"client":"c1","subscription":"s1",\#(members)}}"# + "\n"
        )
    }

    @Test func fieldsAreTheirPositionsWhereNamesWouldNotDo() {
        var schema = SubscriptionProperties.quotes
        schema.fields = .group("schema")
        schema.items = .group("group")
        let context = TopicContext(subscription: "s1", client: nil, properties: schema)
        let text = data(.subscription(schema.update(["1", "2", "3"], changed: [3])), context)
        #expect(text.hasPrefix(#"{"client":null,"subscription":"s1","item":null,"itemPos":1,"#))
        #expect(text.hasSuffix(#""fields":{"3":"3"}}"#))
    }

    @Test func oneNameOnTwoLevelsMakesAllKeysPositions() {
        var properties = SubscriptionProperties.portfolio
        properties.secondLevelFields = .list(["price"])
        #expect(FieldNaming(properties).usesNames)
        properties.secondLevelFields = .list(["qty"])
        #expect(!FieldNaming(properties).usesNames)
        properties.secondLevelFields = .group("schema")
        #expect(!FieldNaming(properties).usesNames)
    }

    @Test func secondLevelMembersAreLeftOutUntilSent() {
        var properties = SubscriptionProperties.portfolio
        properties.secondLevelFields = .list(["price", "time"])
        let context = TopicContext(subscription: "s1", client: "c1", properties: properties)
        let before = data(.subscription(properties.update(["k", "ADD", "5"])), context, sendsAllFields: true)
        #expect(before.hasSuffix(#""values":{"key":"k","command":"ADD","qty":"5"}}"#))
        let after = properties.update(["k", "UPDATE", "5", "1.0", nil], changed: [4])
        #expect(
            data(.subscription(after), context, sendsAllFields: true).hasSuffix(
                #""fields":{"price":"1.0"},"values":{"key":"k","command":"UPDATE","qty":"5","price":"1.0","time":null}}"#
            )
        )
    }

    @Test func theGatewaysOwnEventsHaveNoID() {
        var encoder = EventEncoder(epoch: "e")
        let sources: [SourceState] = [
            .client(id: "c1", status: .connecting),
            .subscription(
                SubscriptionSourceState(
                    id: "s1",
                    mode: .command,
                    client: "c1",
                    status: .connecting,
                    isActive: true,
                    lastError: UpstreamRefusal(code: 21, message: "no")
                )
            ),
        ]
        encoder.encode(
            .stream(id: "t", sources: sources, resume: .gap, retryMilliseconds: 2100),
            as: .serverSentEvents
        )
        let list =
            #"[{"client":"c1","status":"CONNECTING"},{"subscription":"s1","mode":"COMMAND","client":"c1","#
            + #""status":"CONNECTING","active":true,"subscribed":false,"lastError":{"code":21,"message":"no"}}]"#
        #expect(
            String(decoding: encoder.json.bytes, as: UTF8.self)
                == "retry: 2100\nevent: stream\ndata: {\"stream\":\"t\",\"sources\":\(list),\"resume\":\"gap\"}\n\n"
        )
        encoder.encode(.closing(reason: "deleted", retryMilliseconds: 5), as: .ndjson)
        #expect(
            String(decoding: encoder.json.bytes, as: UTF8.self)
                == #"{"event":"closing","data":{"reason":"deleted"}}"# + "\n"
        )
    }
}
