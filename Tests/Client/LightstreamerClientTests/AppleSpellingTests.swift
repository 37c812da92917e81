internal import LightstreamerClient
internal import Testing

@Suite struct AppleSpellingTests {
    @Test func spellingsNameTheSameValues() throws {
        #expect([SubscriptionMode.MERGE, .DISTINCT, .RAW, .COMMAND] == [.merge, .distinct, .raw, .command])
        let statuses: [ClientStatus] = [
            .CONNECTING, .CONNECTED_STREAM_SENSING, .CONNECTED_WS_STREAMING, .CONNECTED_HTTP_STREAMING,
            .CONNECTED_WS_POLLING, .CONNECTED_HTTP_POLLING, .STALLED, .DISCONNECTED_WILL_RETRY,
            .DISCONNECTED_TRYING_RECOVERY, .DISCONNECTED,
        ]
        #expect(statuses == ClientStatus.allCases)
        let transports: [ForcedTransport] = [.WS, .WS_STREAMING, .WS_POLLING, .HTTP, .HTTP_STREAMING, .HTTP_POLLING]
        #expect(transports == ForcedTransport.allCases)
        #expect(LightstreamerClient.LIB_NAME == LightstreamerClient.libName)
        #expect(LightstreamerClient.LIB_VERSION == LightstreamerClient.libVersion)
    }

    @Test func subscriptionsAreCreatedWithTheLabelsOfTheClassReference() throws {
        #expect(Subscription(subscriptionMode: .RAW).mode == .raw)
        #expect(try Subscription(subscriptionMode: .MERGE, items: ["a"], fields: ["b"]).items == ["a"])
        #expect(try Subscription(subscriptionMode: .MERGE, item: "a", fields: ["b"]).fields == ["b"])
    }
}
