internal import JSONText
internal import Primitives

/// A `GET /mcp` that waits until values of subscribed resources change. Its response is a complete event stream with the
/// changes of up to a second; the client then repeats the request, as the transport permits. So notifications wait for no
/// memory of this gateway, and a slow client receives fewer of them.
final class MCPNotifications: Sendable {
    /// The longest wait in seconds: proxies close responses that take a minute.
    private static let longestWait = 25

    private struct State {
        var changed: [String] = []
        var isScheduled = false
        var abandonments: [@Sendable () -> Void] = []
    }

    private let services: Services
    private let session: MCPSession
    private let pending: PendingResponse
    private let state = RankedMutex(State())

    private init(services: Services, session: MCPSession, pending: PendingResponse) {
        (self.services, self.session, self.pending) = (services, session, pending)
    }

    /// Waits for the changes of a session's resources.
    static func wait(for session: MCPSession, _ call: Call, _ services: Services) throws -> OperationResult {
        let pending = try services.pendingResponse(call)
        let notifications = MCPNotifications(services: services, session: session, pending: pending)
        notifications.begin(MCPReading(services: services, call: call))
        return .deferred
    }

    private func begin(_ reading: MCPReading) {
        session.waits { [weak self] in self?.respond() }
        pending.complete(after: .seconds(Self.longestWait), by: services.timers) { self.response() }
        pending.onCompletion {
            let actions = self.state.withLock { state in
                defer { state.abandonments = [] }
                return state.abandonments
            }
            for action in actions { action() }
        }
        for (uri, cursor) in session.cursors {
            reading.read(
                uri,
                after: cursor,
                wait: Self.longestWait,
                onAbandonment: { action in self.state.withLock { $0.abandonments.append(action) } }
            ) { response in self.read(uri, response, cursor) }
        }
    }

    private func read(_ uri: String, _ response: Response, _ known: String?) {
        guard response.status < 300, let cursor = response.cursor, cursor != known,
            session.changed(uri, cursor: cursor)
        else { return }
        let isFirst = state.withLock { state in
            state.changed.append(uri)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        let pause = session.pause(at: services.clock())
        if pause > .zero {
            pending.complete(after: pause, by: services.timers) { self.response() }
        } else {
            respond()
        }
    }

    private func respond() { pending.complete { self.response() } }

    private func response() -> Response {
        let changed = state.withLock { $0.changed }
        if !changed.isEmpty { session.notified(at: services.clock()) }
        var events = "retry: 100\n\n"
        for uri in changed.sorted() {
            let message: JSONValue = [
                "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": ["uri": .string(uri)],
            ]
            events += "event: message\ndata: \(message.text)\n\n"
        }
        return Response(status: 200, mediaType: "text/event-stream", body: Array(events.utf8))
    }
}
