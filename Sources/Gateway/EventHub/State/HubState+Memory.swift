internal import Primitives
internal import SessionCore

/// The budget of logs.
extension HubState {
    /// Drops the snapshots for later streams, then replay windows, those with the oldest last event first, until an eighth of
    /// the budget is free. What late readers have yet to read stays.
    mutating func shrinkWindows() {
        guard memory.logs > nextShrink else { return }
        let goal = memory.goal
        var channels: [Channel] = subscriptions.values.map(\.channel)
        for client in clients.values { channels += client.channels + client.departed }
        for channel in channels { channel.snapshot = nil }
        let windows = channels.compactMap { channel in channel.log.lastPublished.map { (channel, $0) } }
        for (channel, _) in windows.sorted(by: { $0.1 < $1.1 }) where memory.used > goal { channel.log.dropWindow() }
        // Readers may retain the rest: the next attempt follows when the logs have grown.
        nextShrink = memory.used > goal ? memory.logs + memory.limit / 16 : 0
    }
}
