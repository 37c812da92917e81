internal import Changes
internal import EventHub
internal import Primitives

/// The requests that wait for values of subscriptions. After a change of a subscription, one piece of background work
/// decides for all of its requests, however many they are, and makes equal contents once.
final class WaitingReadings: Sendable {
    /// Responds to a request if the present values decide its response.
    typealias Attempt = @Sendable (_ versions: inout CurrentVersions, _ hasChanged: Bool) -> Void

    /// The number of the last change of a subscription that was reported; no two subscriptions have the same.
    typealias Change = UInt64

    private struct Group: Sendable {
        let work: RepeatedWork
        /// How long it took to write the table when the requests were decided last.
        var size = WorkSize.medium
        var change: Change
        /// The watch of the subscription; nil until it exists.
        var watch: UInt64?
        var requests: [UInt64: (attempt: Attempt, since: Change)] = [:]
    }

    private struct State {
        var groups: [SubscriptionID: Group] = [:]
        var changes: Change = 0
        var requests: UInt64 = 0
    }

    private let hub: EventHub
    private let coordination: any Coordination
    private let background: BackgroundQueues
    private let state = RankedMutex(State())

    init(hub: EventHub, coordination: any Coordination, background: BackgroundQueues) {
        (self.hub, self.coordination, self.background) = (hub, coordination, background)
    }

    /// The last change of a subscription for which requests wait; nil: it is not watched.
    func change(of topic: SubscriptionID) -> Change? {
        state.withLock { state in state.groups[topic].flatMap { $0.watch == nil ? nil : $0.change } }
    }

    /// Adds a request, which `remove` removes.
    ///
    /// - Parameter known: The last change before the request was decided the last time. If there was another since, or it
    ///   is not known, the request is decided once more.
    func add(to topic: SubscriptionID, known: Change?, _ attempt: @escaping Attempt) -> UInt64 {
        let (number, group, isNew) = state.withLock { state in
            state.requests += 1
            let isNew = state.groups[topic] == nil
            if isNew {
                state.changes += 1
                let work = RepeatedWork { [weak self] in self?.attemptAll(of: topic) }
                state.groups[topic] = Group(work: work, change: state.changes)
            }
            let since = known ?? state.groups[topic]?.change ?? state.changes
            state.groups[topic]?.requests[state.requests] = (attempt, since)
            return (state.requests, state.groups[topic], isNew)
        }
        if isNew {
            watch(topic)
            attemptAll(of: topic)
        } else if let group, group.watch != nil, group.change != known {
            var versions = CurrentVersions(of: topic, in: hub, coordination.contact)
            attempt(&versions, known != nil)
        }
        // Without a watch, the first request of the group decides for all once there is one.
        return number
    }

    func remove(_ number: UInt64, from topic: SubscriptionID) {
        let watch: UInt64? = state.withLock { state in
            state.groups[topic]?.requests[number] = nil
            guard let group = state.groups[topic], group.requests.isEmpty else { return nil }
            state.groups[topic] = nil
            return group.watch
        }
        if let watch { hub.unwatch(watch, of: topic) }
    }

    /// Decides for all requests of a subscription, in the background.
    func attempt(_ topic: SubscriptionID) {
        guard let group = state.withLock({ $0.groups[topic] }) else { return }
        group.work.request(on: background.queue(for: group.size))
    }

    private func watch(_ topic: SubscriptionID) {
        // The thread that reports a change holds locks of the pool: the responses are made elsewhere.
        let watch = hub.watch(topic) { [weak self] in
            self?.state.withLock { state in
                state.changes += 1
                state.groups[topic]?.change = state.changes
            }
            self?.attempt(topic)
        }
        // All requests of the group may have been removed in between, and others added.
        let isUsed = state.withLock { state in
            guard let group = state.groups[topic], group.watch == nil else { return false }
            state.groups[topic]?.watch = watch
            return true
        }
        if !isUsed { hub.unwatch(watch, of: topic) }
    }

    private func attemptAll(of topic: SubscriptionID) {
        let size = hub.read(topic, \.table.writing) ?? .small
        let (group, hasGrown) = state.withLock { state in
            defer { state.groups[topic]?.size = size }
            return (state.groups[topic], size == .large && state.groups[topic]?.size != .large)
        }
        guard let group else { return }
        if hasGrown { return group.work.request(on: background.queue(for: size)) }
        var versions = CurrentVersions(of: topic, in: hub, coordination.contact)
        for (attempt, since) in group.requests.values { attempt(&versions, since != group.change) }
    }
}
