internal import EventHub
internal import JSONText
internal import MicroHTTPD

/// The memory budgets of the gateway with their present use.
package struct MemoryBudgets: Sendable {
    struct Budget: Sendable {
        /// The name of the budget in metrics and in `/health`.
        let name: String
        /// The bytes in use, and the limit.
        let use: MemoryUse
    }

    let all: [Budget]

    /// The budgets of a hub, of an HTTP server and of messages.
    init(_ memory: StreamMemory, _ figures: DaemonFigures, messages: MemoryUse) {
        all = [
            Budget(name: "streams", use: MemoryUse(used: memory.total, limit: memory.limit)),
            Budget(name: "responses", use: figures.responses),
            Budget(name: "bodies", use: figures.bodies),
            Budget(name: "messages", use: messages),
        ]
    }

    /// Writes the budgets as members of an object; the limit is null if there is none.
    func write(to json: inout JSONBytes) {
        json.beginObject()
        for budget in all {
            json.key(budget.name)
            json.beginObject()
            json.member("used", budget.use.used)
            json.member("limit", budget.use.limit == .max ? nil : budget.use.limit)
            json.endObject()
        }
        json.endObject()
    }

    /// Writes the budgets as metrics; a budget without a limit has no limit metric.
    func write(to text: inout MetricsText) {
        text.write(MetricNames.memoryUsed, each: all.map { ([$0.name], $0.use.used) })
        let limited = all.filter { $0.use.limit != .max }
        text.write(MetricNames.memoryLimit, each: limited.map { ([$0.name], $0.use.limit) })
    }
}
