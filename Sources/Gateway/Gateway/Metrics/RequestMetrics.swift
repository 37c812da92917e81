internal import Primitives

/// Counts responses. Labels come from fixed lists, so that requests cannot add new ones.
package final class RequestMetrics: Sendable {
    private struct Route {
        /// The counts by method and status. They are few: searching them costs less than hashing.
        var counts: [(method: String, status: Int, count: UInt64)] = []
        let durations = LatencyHistogram()

        mutating func add(method: String, status: Int, from start: Moment, to end: Moment) {
            durations.record(from: start, to: end)
            for index in counts.indices where counts[index].status == status {
                guard counts[index].method == method else { continue }
                return counts[index].count &+= 1
            }
            counts.append((method, status, 1))
        }
    }

    private struct State {
        /// By the name of the operation; empty for paths and methods without one.
        var routes: [String: Route] = [:]
        var problems: [ProblemCode: UInt64] = [:]
    }

    private static let methods = ["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "PUT"]

    private let state = RankedMutex(State())

    func record(
        route: String?,
        method: String?,
        status: Int,
        problem: ProblemCode?,
        from start: Moment,
        to end: Moment
    ) {
        // Methods that no operation has are counted together.
        let label = if let method, Self.methods.contains(method) { method } else { "other" }
        state.withLock { state in
            if let problem { state.problems[problem, default: 0] &+= 1 }
            state.routes[route ?? "", default: Route()].add(method: label, status: status, from: start, to: end)
        }
    }

    func write(to text: inout MetricsText) {
        let state = state.withLock { $0 }
        let routes = state.routes.sorted { $0.key < $1.key }
        text.open(MetricNames.requests)
        for (name, route) in routes {
            for (method, status, count) in route.counts.sorted(by: { ($0.method, $0.status) < ($1.method, $1.status) })
            {
                text.write(MetricNames.requests, labels: [name, method, "\(status)"], count)
            }
        }
        text.open(MetricNames.requestSeconds)
        for (name, route) in routes {
            text.write(
                MetricNames.requestSeconds,
                labels: [name],
                bounds: LatencyHistogram.bounds,
                counts: route.durations.counts,
                sum: route.durations.sum
            )
        }
        text.open(MetricNames.problems)
        for code in ProblemCode.allCases {
            text.write(MetricNames.problems, labels: [code.rawValue], state.problems[code, default: 0])
        }
    }
}
