/// A word that is given once and that many may wait for.
struct StopSignal: Sendable {
    private let stream: AsyncStream<Never>
    private let source: AsyncStream<Never>.Continuation

    init() {
        (stream, source) = AsyncStream.makeStream(of: Never.self)
    }

    /// Gives the word.
    func set() { source.finish() }

    /// Waits for the word, or for cancellation.
    func wait() async {
        for await _ in stream {}
    }
}
