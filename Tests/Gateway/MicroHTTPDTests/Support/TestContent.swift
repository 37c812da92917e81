internal import Dispatch
internal import MicroHTTPD
internal import Primitives
internal import StreamIO
internal import Synchronization

/// A content with payloads from the test, which may be added on any thread.
final class TestContent: StreamContent, Sendable {
    private struct State {
        var waiting: [[UInt8]] = []
        var isFinished = false
        var stream: (id: StreamID, feed: TestFeed)?
        var framing = StreamFraming.bare
        var end: StreamEnd?
        var wakeAfter: Duration?
        var fills = 0
        var blocks = 0
    }

    private static let admitted = Mutex<[String: TestContent]>([:])

    private let state = Mutex(State())
    private let endSignal = DispatchSemaphore(value: 0)
    private let openSignal = DispatchSemaphore(value: 0)
    /// Makes the payload at the deadline of the last `.idle`.
    private let heartbeat: (every: Duration, text: String)?

    init(_ payloads: [String] = [], finished: Bool = false, heartbeat: (every: Duration, text: String)? = nil) {
        self.heartbeat = heartbeat
        state.withLock { state in
            state.waiting = payloads.map { Array($0.utf8) }
            state.isFinished = finished
        }
    }

    // MARK: - For the test

    func push(_ text: String) {
        push(Array(text.utf8))
    }

    func push(_ bytes: [UInt8]) {
        tell { $0.waiting.append(bytes) }
    }

    func finish() {
        tell { $0.isFinished = true }
    }

    func waitUntilOpen() -> Bool {
        openSignal.wait(timeout: .now() + 10) == .success
    }

    /// Waits for the end of the stream, and returns the reason.
    func waitForEnd() -> StreamEnd? {
        guard endSignal.wait(timeout: .now() + 10) == .success else { return nil }
        return state.withLock { $0.end }
    }

    var framing: StreamFraming { state.withLock { $0.framing } }
    var fills: Int { state.withLock { $0.fills } }
    /// The number of notifications that its client is slow.
    var blocks: Int { state.withLock { $0.blocks } }
    /// The opening of the stream; nil before and after it.
    var stream: (id: StreamID, feed: TestFeed)? { state.withLock { $0.stream } }

    private func tell(_ change: (inout State) -> Void) {
        let stream = state.withLock { state in
            change(&state)
            return state.stream
        }
        stream?.feed.add(stream!.id)
        stream?.feed.wake()
    }

    // MARK: - For the loop

    /// The stream of this content, which a handler answers with.
    var admitted: AdmittedStream {
        let id = "\(ObjectIdentifier(self))"
        Self.admitted.withLock { $0[id] = self }
        return AdmittedStream(id: id) { self.over($0) }
    }

    /// The content of an admitted stream, opened.
    static func opened(_ opening: StreamOpening, by feed: TestFeed) -> TestContent {
        guard let content = admitted.withLock({ $0[opening.stream] }) else {
            preconditionFailure("a stream was opened that was not admitted")
        }
        content.state.withLock { state in
            state.stream = (opening.id, feed)
            state.framing = opening.framing
        }
        content.openSignal.signal()
        return content
    }

    func fill(_ batch: inout StreamBatch, now: Moment) -> StreamProgress {
        let (payloads, framing, isFinished, isFirst) = state.withLock { state in
            state.fills += 1
            defer { state.waiting = [] }
            return (state.waiting, state.framing, state.isFinished, state.fills == 1)
        }
        for payload in payloads {
            batch.append(SharedBytes(framing == .chunked ? chunk(payload) : payload))
        }
        if isFinished { return .finish }
        guard let heartbeat else { return .idle(wakeAt: nil) }
        if payloads.isEmpty && !isFirst {
            let text = Array(heartbeat.text.utf8)
            batch.append(SharedBytes(framing == .chunked ? chunk(text) : text))
        }
        return .idle(wakeAt: now + heartbeat.every)
    }

    func blocked() {
        state.withLock { $0.blocks += 1 }
    }

    func ended(_ reason: StreamEnd) {
        state.withLock { state in
            precondition(state.stream != nil, "ended twice, or without having been opened")
            state.stream = nil
        }
    }

    private func over(_ reason: StreamEnd) {
        state.withLock { state in
            precondition(state.end == nil && state.stream == nil, "over twice, or before the content ended")
            state.end = reason
        }
        Self.admitted.withLock { $0["\(ObjectIdentifier(self))"] = nil }
        endSignal.signal()
    }
}
