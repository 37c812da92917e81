internal import MicroHTTPD
internal import Primitives
internal import Synchronization

/// The memory of the messages that wait to be sent or for their outcome. A caller has half of the limit at most.
final class MessageMemory: Sendable {
    fileprivate final class Sum: Sendable {
        let bytes = Atomic(0)

        func has(room count: Int, under limit: Int) -> Bool { count <= limit - bytes.load(ordering: .relaxed) }
    }

    /// A message counts as long as this object exists. Its end takes no lock, so that it may come under any.
    final class Claim: Sendable {
        private let count: Int
        private let sums: [Sum]

        fileprivate init(_ count: Int, _ sums: [Sum]) {
            (self.count, self.sums) = (count, sums)
            for sum in sums { sum.bytes.wrappingAdd(count, ordering: .relaxed) }
        }

        deinit { for sum in sums { sum.bytes.wrappingSubtract(count, ordering: .relaxed) } }
    }

    private struct Reference { weak var sum: Sum? }

    private struct Shares {
        /// By account; the messages of a caller own its sum.
        var sums: [String: Reference] = [:]
        /// The number of sums at which those of callers without messages are removed.
        var mostSums = 64
    }

    /// What a message takes beside its text, about.
    private static let overhead = 512

    private let all = Sum()
    private let shares = RankedMutex(Shares())

    /// Counts a message with a text of some bytes. Throws without counting it: 503 over the limit of all callers, 429 over that
    /// of one.
    ///
    /// - Parameter limit: The bytes of the messages of all callers.
    func claim(_ length: Int, for caller: Caller, limit: Int) throws(Problem) -> Claim {
        let count = length + Self.overhead
        return try shares.withLock { shares throws(Problem) in
            guard all.has(room: count, under: limit) else {
                let rule = "The messages that wait have \(limit) bytes at most (pool.maxMessages)."
                throw Problem(.gatewayFull, detail: rule)
            }
            guard let account = caller.account else { return Claim(count, [all]) }
            let own = Self.sum(of: account, in: &shares)
            guard own.has(room: count, under: limit / 2) else {
                let most = "\(limit / 2) bytes at most (half of pool.maxMessages)"
                let rule = "The messages of this caller that wait have \(most)."
                throw Problem(.overQuota, detail: rule)
            }
            return Claim(count, [all, own])
        }
    }

    func use(limit: Int) -> MemoryUse { MemoryUse(used: all.bytes.load(ordering: .relaxed), limit: limit) }

    private static func sum(of account: String, in shares: inout Shares) -> Sum {
        if let sum = shares.sums[account]?.sum { return sum }
        if shares.sums.count >= shares.mostSums {
            shares.sums = shares.sums.filter { $0.value.sum != nil }
            shares.mostSums = max(64, 2 * shares.sums.count)
        }
        let sum = Sum()
        shares.sums[account] = Reference(sum: sum)
        return sum
    }
}
