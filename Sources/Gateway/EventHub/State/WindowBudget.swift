/// The share of the replay windows in the memory of a hub.
struct WindowBudget: Sendable {
    /// The memory of logs above which windows are dropped again.
    private var nextShrink = 0

    /// Drops the snapshots for later streams, then replay windows, those with the oldest last event first, until an eighth of
    /// the budget is free. What late readers have yet to read stays.
    mutating func shrink(_ channels: @autoclosure () -> [Channel], in memory: StreamMemory) {
        guard memory.logs > nextShrink else { return }
        let channels = channels()
        let goal = memory.goal
        for channel in channels { channel.snapshot = nil }
        let windows = channels.compactMap { channel in channel.log.lastPublished.map { (channel, $0) } }
        for (channel, _) in windows.sorted(by: { $0.1 < $1.1 }) where memory.used > goal { channel.log.dropWindow() }
        // Readers may retain the rest: the next attempt follows when the logs have grown.
        nextShrink = memory.used > goal ? memory.logs + memory.limit / 16 : 0
    }
}
