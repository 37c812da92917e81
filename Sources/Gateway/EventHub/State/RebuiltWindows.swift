package import Changes
package import Primitives

/// The windows of recent events that a hub with given numbers would have if it had applied an ordered log since an earlier
/// position.
///
/// The values of subscriptions at that position are not needed: no event depends on them.
package struct RebuiltWindows: Sendable {
    private var state: HubState

    var topics: TopicTable { state.topics }

    /// Empty windows at a position.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the hub that takes the windows over.
    ///   - topics: The changes that lead from no topics to those at the position. They have no events.
    ///   - lastEvents: The last events of topics up to the position (see `EventHub.lastEvents`), with which streams resume. A topic
    ///     without an entry may have had events just before the position.
    package init(
        configuration: HubConfiguration,
        epoch: String,
        topics: [Change],
        lastEvents: [TopicID: [UInt64]] = [:],
        at position: UInt64
    ) {
        state = HubState(configuration: configuration, epoch: epoch, numbering: .given)
        for change in topics { state.apply(change, now: .zero) }
        state.restart(epoch: epoch, at: position, windows: nil, isDegraded: false)
        for (topic, last) in lastEvents { state.topics.setLastEvents(last, of: topic) }
    }

    /// Applies the changes of a position, which has to be after the present one.
    package mutating func apply(_ changes: [NumberedChange], at position: UInt64, now: Moment) {
        state.apply(changes, at: position, now: now)
    }
}
