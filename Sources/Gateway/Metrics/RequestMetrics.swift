internal import EventHub
internal import SessionCore
internal import Synchronization

/// Counts responses. Labels come from fixed lists, so that requests cannot add new ones.
package final class RequestMetrics: Sendable {
    /// The labels of a count.
    struct Key: Hashable, Sendable {
        /// The operation; empty if the path or method has none.
        let route: String
        /// The method; `other` for methods that no operation has.
        let method: String
        /// The status.
        let status: Int
    }

    private struct State {
        var counts: [Key: UInt64] = [:]
        var problems: [ProblemCode: UInt64] = [:]
        var durations: [String: LatencyHistogram] = [:]
    }

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "PUT"]

    private let state = Mutex(State())

    /// No counts.
    package init() {}

    /// Counts a response.
    func record(route: String?, method: String?, status: Int, problem: ProblemCode?, took: Duration) {
        let key = Key(
            route: route ?? "",
            method: method.flatMap { Self.methods.contains($0) ? $0 : nil } ?? "other",
            status: status
        )
        let histogram = state.withLock { state in
            state.counts[key, default: 0] &+= 1
            if let problem { state.problems[problem, default: 0] &+= 1 }
            if let histogram = state.durations[key.route] { return histogram }
            let histogram = LatencyHistogram()
            state.durations[key.route] = histogram
            return histogram
        }
        histogram.record(from: .zero, to: .zero + max(took, .zero))
    }

    /// Writes the metrics.
    func write(to text: inout MetricsText) {
        let state = state.withLock { $0 }
        text.open(MetricNames.requests)
        let sorted = state.counts.sorted { left, right in
            (left.key.route, left.key.method, left.key.status) < (right.key.route, right.key.method, right.key.status)
        }
        for (key, count) in sorted {
            text.write(MetricNames.requests, labels: [key.route, key.method, "\(key.status)"], count)
        }
        text.open(MetricNames.requestSeconds)
        for (route, histogram) in state.durations.sorted(by: { $0.key < $1.key }) {
            text.write(
                MetricNames.requestSeconds,
                labels: [route],
                bounds: LatencyHistogram.bounds,
                counts: histogram.counts,
                sum: histogram.sum
            )
        }
        text.open(MetricNames.problems)
        for code in ProblemCode.allCases {
            text.write(MetricNames.problems, labels: [code.rawValue], state.problems[code, default: 0])
        }
    }
}
