/// A caller that waits until the counts of a server meet a condition. The stream ends with the watch.
final class CensusWatch: Sendable {
    private let condition: @Sendable (ServerCensus) -> Bool
    private let arrival: AsyncStream<Void>.Continuation

    /// A watch that reports to a stream.
    init(_ condition: @escaping @Sendable (ServerCensus) -> Bool, _ arrival: AsyncStream<Void>.Continuation) {
        self.condition = condition
        self.arrival = arrival
    }

    deinit { arrival.finish() }

    /// Whether the counts meet the condition; then the caller continues.
    func isMet(by census: ServerCensus) -> Bool {
        guard condition(census) else { return false }
        arrival.yield()
        return true
    }
}
