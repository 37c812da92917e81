internal import Dispatch
internal import MicroHTTPD
internal import StreamIO
internal import Synchronization

/// A value with a version as its tag, at every path that begins with `/value`. Requests with the present tag wait for
/// the next version, and offer to wait together.
final class TestValue: Sendable {
    private struct State {
        var version = 1
        var answers: [(accept: String, responder: HTTPResponder)] = []
        var deliveries: [(accept: String, deliver: @Sendable (SharedAnswer) -> Void)] = []
    }

    /// What has happened to shared waits.
    struct Counts: Equatable {
        var joined = 0
        var answered = 0
        var abandoned = 0
        var ended = 0
    }

    private let state = Mutex(State())
    private let events = DispatchSemaphore(value: 0)
    fileprivate let counts = Mutex(Counts())
    private let isClosed: Bool
    private let longestWait: Duration
    private let ignoresBodies: Bool

    init(longestWait: Duration = .seconds(60), isClosed: Bool = false, ignoresBodies: Bool = false) {
        (self.longestWait, self.isClosed, self.ignoresBodies) = (longestWait, isClosed, ignoresBodies)
    }

    /// The counts so far.
    var present: Counts { counts.withLock(\.self) }

    /// The head of a poll; empty: without a tag.
    static func poll(_ tag: String, accept: String = "*/*", path: String = "/value") -> String {
        let condition = tag.isEmpty ? "" : "If-None-Match: \(tag)\r\n"
        return "GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: \(accept)\r\n\(condition)\r\n"
    }

    /// Responds to polls.
    var handler: TestHandler {
        var handler = TestHandler { [self] request, responder in
            guard request.rawPath.hasPrefix("/value") else { return TestHandler.echo(request, responder) }
            let version = state.withLock(\.version)
            let accept = request.headers["Accept"] ?? ""
            guard request.headers["If-None-Match"] == "\(version)" else {
                return .respond(response(version, accept, "alone"))
            }
            state.withLock { $0.answers.append((accept, responder)) }
            responder.share { [self] deliver in
                state.withLock { $0.deliveries.append((accept, deliver)) }
                return TestWait(self, longestWait, isClosed: isClosed)
            }
            events.signal()
            return .wait
        }
        handler.ignoresBodies = ignoresBodies
        return handler
    }

    /// Waits until this many more requests wait, alone or together, or have left a shared wait. The loop may not have
    /// returned from the handler yet.
    func waitForEvents(_ count: Int) -> Bool {
        (0..<count).allSatisfy { _ in events.wait(timeout: .now() + 60) == .success }
    }

    /// Responds to all waiting requests with the next version. Returns the number of responses made for shared waits.
    ///
    /// - Parameters:
    ///   - together: Makes the answer to a shared wait.
    ///   - alone: Makes the response of a request that waits in the library.
    @discardableResult
    func change(
        _ together: (HTTPResponse) -> SharedAnswer = { .same($0) },
        alone: (HTTPResponse) -> HTTPResponse = { $0 }
    ) -> Int {
        let (answers, deliveries, version) = state.withLock { state in
            defer { (state.answers, state.deliveries) = ([], []) }
            state.version += 1
            return (state.answers, state.deliveries, state.version)
        }
        for (accept, responder) in answers { responder.respond(alone(response(version, accept, "alone"))) }
        for (accept, deliver) in deliveries { deliver(together(response(version, accept, "together"))) }
        return deliveries.count
    }

    private func response(_ version: Int, _ accept: String, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [HTTPField("ETag", "\(version)")],
            body: .bytes(Array("\(accept) \(text)".utf8))
        )
    }

    fileprivate func note(_ change: (inout Counts) -> Void) { counts.withLock { change(&$0) } }

    /// The requests that wait have changed.
    fileprivate func signal() { events.signal() }
}

/// A wait that counts.
private final class TestWait: SharedWait {
    let longestWait: Duration
    private let value: TestValue
    private let isClosed: Bool

    init(_ value: TestValue, _ longestWait: Duration, isClosed: Bool) {
        (self.value, self.longestWait, self.isClosed) = (value, longestWait, isClosed)
    }

    func join(from peer: PeerAddress) -> SharedWaitEntry {
        if isClosed { return .closed }
        defer {
            value.note { $0.joined += 1 }
            value.signal()
        }
        return .joined(TestRequest(value, number: value.present.joined))
    }

    func end() { value.note { $0.ended += 1 } }
}

/// A request with its number among those that have joined a wait.
final class TestRequest: JoinedRequest {
    private let value: TestValue
    let number: Int

    init(_ value: TestValue, number: Int) { (self.value, self.number) = (value, number) }

    var fields: HTTPFields { [HTTPField("X-Number", "\(number)")] }

    func answered(status: Int) { value.note { $0.answered += 1 } }

    func timedOut() -> HTTPResponse { HTTPResponse(status: 304, headers: fields, body: .omitted(7)) }

    func abandoned() {
        value.note { $0.abandoned += 1 }
        value.signal()
    }
}
