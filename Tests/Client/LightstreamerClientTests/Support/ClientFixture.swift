internal import LightstreamerTesting
internal import SessionCore

@testable internal import LightstreamerClient

/// A client over fake connections and a stepped clock, with its events as one sequence of texts.
final class ClientFixture {
    let client: LightstreamerClient
    let connector = FakeConnector()
    let clock = ManualClock(random: 0.5)
    private var events: AsyncThrowingStream<ClientEvent, any Error>.Iterator

    init(address: String? = "http://push.invalid", _ change: (inout ClientConfiguration) -> Void = { _ in }) throws {
        var configuration = ClientConfiguration()
        configuration.clock = clock
        configuration.connector = connector
        change(&configuration)
        client = try LightstreamerClient(serverAddress: address, adapterSet: "DEMO", configuration: configuration)
        events = client.events(bufferedUpTo: 10_000).makeAsyncIterator()
    }

    /// Connects over a WebSocket up to `CONNECTED:WS-STREAMING`, and returns the connection.
    func connected(keepalive: Int = 5_000) async throws -> FakeLink {
        try client.connect()
        guard let link = await connector.next() else { throw Ended() }
        link.open("WSOK", "CONOK,S1,50000,\(keepalive),*", "SERVNAME,srv", "CLIENTIP,1.2.3.4", "CONS,unlimited")
        _ = await words(until: "property realMaxBandwidth")
        while let message = await link.heard(), !message.hasPrefix("create_session") {}
        return link
    }

    /// A client that begins to connect, and its first connection.
    static func connecting(
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> (ClientFixture, FakeLink) {
        let fixture = try ClientFixture(change)
        try fixture.client.connect()
        guard let link = await fixture.connector.next() else { throw Ended() }
        return (fixture, link)
    }

    /// A client with a session on a WebSocket, and the connection.
    static func connected(
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> (ClientFixture, FakeLink) {
        let fixture = try ClientFixture(change)
        return (fixture, try await fixture.connected())
    }

    struct Ended: Error {}

    /// The next event that is not a count of bytes, as text; nil at the end.
    func word() async -> String? {
        while let event = try? await events.next() {
            if case .bytesReceived = event { continue }
            return Self.word(event)
        }
        return nil
    }

    /// All events up to the one with this prefix.
    func words(until prefix: String) async -> [String] {
        var words: [String] = []
        while let word = await word() {
            words.append(word)
            if word.hasPrefix(prefix) { break }
        }
        return words
    }

    private static func word(_ event: ClientEvent) -> String {
        switch event {
        case .status(let status): "status \(status.rawValue)"
        case .serverError(let code, let message): "error \(code) \(message)"
        case .property(let name): "property \(name)"
        case .message(_, let text, let outcome): "message \(text) \(outcome)"
        case .legacy(let event): "legacy \(event)"
        case .bytesReceived(let count): "bytes \(count)"
        case .subscription(_, let event): word(event)
        }
    }

    private static func word(_ event: SubscriptionEvent) -> String {
        switch event {
        case .subscribed(let items, let fields, _, _): "subscribed \(items) \(fields)"
        case .unsubscribed: "unsubscribed"
        case .failed(let code, let message): "failed \(code) \(message)"
        case .update(let update): "update \(update.itemPos) \(update.values.map { $0 ?? "-" }.joined(separator: ","))"
        case .endOfSnapshot(let itemPos): "end-of-snapshot \(itemPos)"
        case .clearSnapshot(let itemPos): "clear-snapshot \(itemPos)"
        case .lostUpdates(let count, let itemPos): "lost \(count) \(itemPos)"
        case .secondLevelFailed(let code, _, let key): "second-level-failed \(code) \(key)"
        case .secondLevelLostUpdates(let count, let key): "second-level-lost \(count) \(key)"
        case .realMaxFrequency(let frequency): "frequency \(frequency?.text ?? "-")"
        }
    }
}
