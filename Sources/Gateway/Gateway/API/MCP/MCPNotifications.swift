internal import JSONText

/// A `GET /mcp` that waits until values of subscribed resources change. Its response is a complete event stream with the
/// changes of up to a second; the client then repeats the request, as the transport permits. So notifications wait for no
/// memory of this gateway, and a slow client receives fewer of them.
struct MCPNotifications: Sendable {
    /// The longest wait in seconds: proxies close responses that take a minute.
    private static let longestWait = 25

    let services: Services
    let session: MCPSession
    let call: Call

    /// Waits for the changes of the session's resources.
    func response() async throws -> Response {
        let changes = try await withThrowingTaskGroup(of: (uri: String, cursor: String?)?.self) { group in
            group.addImmediateTask {
                try await services.wait(call, upTo: .seconds(Self.longestWait)) { awaited in
                    session.waits { awaited.end(.success(nil)) }
                }
            }
            for (uri, cursor) in session.cursors {
                group.addImmediateTask { (uri, try await newCursor(of: uri, since: cursor)) }
            }
            var changes: [(uri: String, cursor: String)] = []
            // The end of the wait has no resource.
            while case let (uri, cursor)?? = try await group.next() {
                guard let cursor else { continue }
                changes.append((uri, cursor))
                guard changes.count == 1 else { continue }
                let pause = session.pause(at: services.clock())
                if pause <= .zero { break }
                group.addTask { try await services.wait(call, upTo: pause) { _ in } }
            }
            group.cancelAll()
            return changes
        }
        // Now, and not before the pause: a client that leaves meanwhile has not heard of the changes.
        let changed = changes.filter { session.changed($0.uri, cursor: $0.cursor) }.map(\.uri)
        if !changed.isEmpty { session.notified(at: services.clock()) }
        return Response(status: 200, mediaType: "text/event-stream", body: Array(events(of: changed).utf8))
    }

    /// The tag of the values of a resource that follow those of a tag; nil: there are none.
    private func newCursor(of uri: String, since known: String?) async throws -> String? {
        let reading = MCPReading(services: services, call: call)
        let response = try await reading.read(uri, after: known, wait: Self.longestWait)
        return response.status < 300 && response.cursor != known ? response.cursor : nil
    }

    private func events(of changed: [String]) -> String {
        var events = "retry: 100\n\n"
        for uri in changed.sorted() {
            let message: JSONValue = [
                "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": ["uri": .string(uri)],
            ]
            events += "event: message\ndata: \(message.text)\n\n"
        }
        return events
    }
}
