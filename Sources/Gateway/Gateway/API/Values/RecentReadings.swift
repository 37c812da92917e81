internal import Changes
internal import EventHub
internal import JSONText
internal import MicroHTTPD
internal import Primitives
internal import SessionCore

/// The requests that read values of shared subscriptions in the last second. An equal request finds its target read and, if
/// nothing has changed since, its response encoded; its caller's rights and limits are checked as for any request.
///
/// An equal request does not join the subscription, which lingers for longer than a reading is kept. So a subscription that is
/// read all the time is joined once a second, and no reading prevents that it is closed when its upstream is full.
final class RecentReadings: Sendable {
    /// A request that was answered at once.
    final class Reading: Sendable {
        let query: ValuesQuery
        private let topic: SubscriptionID
        private let configuration: LiveConfiguration.Version
        private let latest: RankedMutex<CurrentVersions.Content>

        init(
            _ query: ValuesQuery,
            of topic: SubscriptionID,
            _ content: CurrentVersions.Content,
            _ configuration: LiveConfiguration.Version
        ) {
            (self.query, self.topic, self.configuration) = (query, topic, configuration)
            latest = RankedMutex(content)
        }

        /// Whether a request is still read in this way.
        func isValid(under present: LiveConfiguration.Version) -> Bool { configuration === present }

        /// The response to an equal request; nil if the values are not complete any more, or many in the meantime. Throws 429
        /// over a quota.
        func response(to call: Call, _ services: Services) throws(Problem) -> Response? {
            let (usage, caller) = (services.access.owners.usage, call.caller)
            try usage.add(topic.rawValue, query.properties, for: caller)
            defer { usage.remove(topic.rawValue, of: caller.account) }
            let caching = CachePolicy(configuration.configuration.values, for: caller)
            return content(from: services)?
                .response(to: call, query, caching, at: services.clock(), configuration.configuration.http)
        }

        private func content(from services: Services) -> CurrentVersions.Content? {
            let hub = services.hub
            guard services.coordination.contact != .none, let version = hub.read(topic, \.version), version.isActive
            else { return nil }
            let known = latest.withLock { $0 }
            if known.version == version { return known }
            guard hub.read(topic, \.table.writing) == .small else { return nil }
            var versions = services.versions(of: topic)
            guard let values = versions.version(for: query), values.isComplete else { return nil }
            if RecentReadings.mayKeep(values.content) { latest.withLock { $0 = values.content } }
            return values.content
        }
    }

    private struct Target: Hashable {
        let path: ExactText
        let query: ExactText?
        let accept: ExactText?

        init(_ call: Call) {
            path = ExactText(call.request.rawPath)
            query = call.request.rawQuery.map { ExactText($0) }
            accept = call.header("Accept").map { ExactText($0) }
        }
    }

    static let lifetime = Duration.seconds(1)
    private static let most = 256
    /// The longest content that is kept, in bytes.
    private static let longest = 64 * 1024

    private let readings = RankedMutex<[Target: Reading]>([:])

    var isEmpty: Bool { readings.withLock { $0.isEmpty } }

    /// The reading of an equal request; nil: none.
    subscript(call: Call) -> Reading? {
        let target = Target(call)
        return readings.withLock { $0[target] }
    }

    private static func mayKeep(_ content: CurrentVersions.Content) -> Bool {
        (content.encoded?.bytes.count ?? 0) <= longest
    }

    /// Keeps a reading, unless its content is long, or there are many.
    func keep(_ reading: Reading, _ content: CurrentVersions.Content, for call: Call, _ timers: TimerQueue) {
        let target = Target(call)
        guard Self.mayKeep(content) else { return }
        let isNew = readings.withLock { readings in
            guard readings[target] != nil || readings.count < Self.most else { return false }
            return readings.updateValue(reading, forKey: target) == nil
        }
        guard isNew else { return }
        timers.schedule(after: Self.lifetime, runsAtStop: false) { [self] in
            readings.withLock { $0[target] = nil }
        }
    }
}
