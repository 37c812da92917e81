package import Changes
package import Primitives

/// The windows of recent events that a hub with given numbers would have if it had applied an ordered log since an earlier
/// position.
///
/// The values of subscriptions at that position are not needed: no event depends on them.
package struct RebuiltWindows: Sendable {
    private(set) var state: HubState

    /// Empty windows at a position.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the hub that takes the windows over.
    ///   - topics: The changes that lead from no topics to those at the position. They have no events.
    package init(configuration: HubConfiguration, epoch: String, topics: [Change], at position: UInt64) {
        state = HubState(configuration: configuration, epoch: epoch, numbering: .given)
        state.sequence = EventNumber.number(position: position, index: EventNumber.complete)
        for change in topics { state.apply(change, now: .zero) }
        state.forgetEvents()
    }

    /// Applies the changes of a position, which has to be after the present one.
    package mutating func apply(_ changes: [NumberedChange], at position: UInt64, now: Moment) {
        state.apply(changes, at: position, now: now)
    }
}

extension HubState {
    /// Replaces the channels of the topics that rebuilt windows have; no stream reads them yet.
    mutating func take(_ windows: RebuiltWindows) {
        var taken: [Int: Channel] = [:]
        for (id, rebuilt) in windows.state.subscriptions where subscriptions[id] != nil {
            let channel = take(rebuilt.channel, &taken)
            subscriptions[id]?.channel = channel
        }
        for (id, rebuilt) in windows.state.clients {
            guard var client = clients[id] else { continue }
            client.connection = take(rebuilt.connection, &taken)
            client.own = take(rebuilt.own, &taken)
            client.legacy = take(rebuilt.legacy, &taken)
            client.departed = rebuilt.departed.map { take($0, &taken) }
            clients[id] = client
        }
    }

    /// A channel of this hub with the log of a rebuilt channel: the same one for each call.
    private mutating func take(_ rebuilt: Channel, _ taken: inout [Int: Channel]) -> Channel {
        if let channel = taken[rebuilt.id] { return channel }
        var log = rebuilt.log
        log.count(in: memory)
        let channel = makeChannel(log)
        taken[rebuilt.id] = channel
        return channel
    }
}
