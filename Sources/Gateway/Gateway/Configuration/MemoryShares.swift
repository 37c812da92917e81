package import EventHub
internal import MicroHTTPD
internal import SessionPool

/// The memory budgets that follow from the memory of the machine where the configuration names none.
extension GatewayConfiguration {
    /// The configuration of the hub with its budgets: of all streams, a quarter of the memory; of one owner's unread
    /// events, a quarter of that. `memory` is that of the machine unless given.
    package func hubConfiguration(memory: Int? = nil) -> HubConfiguration {
        let memory = memory ?? MachineMemory.available
        var hub = hub
        if hub.memoryBytes == 0 { hub.memoryBytes = memory / 4 }
        if hub.ownerMemoryBytes == 0 { hub.ownerMemoryBytes = hub.memoryBytes / 4 }
        return hub
    }

    /// The configuration of the pool with the default budget of an upstream's values: an equal share of a quarter of the
    /// memory.
    func poolConfiguration(memory: Int? = nil) -> PoolConfiguration {
        var pool = pool
        pool.maxValueBytes = (memory ?? MachineMemory.available) / 4 / max(1, pool.upstreams.count)
        return pool
    }

    /// The bytes of all large responses at a time: an eighth of the memory unless the configuration names another budget.
    func responseBudget(memory: Int? = nil) -> Int {
        let memory = memory ?? MachineMemory.available
        return http.responseBudget == 0 ? memory / 8 : http.responseBudget
    }

    /// A warning if the budgets together exceed the memory of the machine; nil if they do not.
    package func memoryWarning(memory: Int? = nil) -> String? {
        let memory = memory ?? MachineMemory.available
        let pool = poolConfiguration(memory: memory)
        let values = pool.upstreams.map { $0.maxValueBytes > 0 ? $0.maxValueBytes : pool.maxValueBytes }
        let budgets =
            values + [
                hubConfiguration(memory: memory).memoryBytes, responseBudget(memory: memory), http.bodyBudget,
                pool.maxMessageBytes,
            ]
        let total = budgets.reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
        guard total > memory else { return nil }
        return
            "streams.memory, http.maxResponses, http.maxBodies, pool.maxMessages and upstreams.*.maxValues together allow "
            + "\(total) bytes, but the machine or container has \(memory)"
    }
}
