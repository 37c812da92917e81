internal import Changes
internal import EventHub
internal import SessionCore

/// The values of a subscription at one moment, in the forms in which requests read them. Each form is made once.
struct CurrentVersions {
    /// The values in one form.
    struct Version: Sendable {
        /// The values.
        let values: CurrentValues
        /// The form of the values.
        let form: ValuesForm
        /// The content of a response; nil for no content.
        let encoded: EncodedTable?
        /// The tag of the content.
        let tag: EntityTag

        /// The values in a form.
        init(_ values: CurrentValues, _ form: ValuesForm) {
            (self.values, self.form) = (values, form)
            encoded = values.encoded(as: form)
            let content = EntityTag(of: encoded?.bytes ?? []).opaque + (values.isStale ? "-s" : "-f")
            tag = EntityTag("\(content)-\(form.rawValue)", isWeak: true)
        }
    }

    private let hub: EventHub
    private let topic: SubscriptionID
    private var snapshot: SubscriptionSnapshot?
    private var versions: [Version] = []

    /// The values that `topic` has when the first of them are asked for.
    init(of topic: SubscriptionID, in hub: EventHub) { (self.topic, self.hub) = (topic, hub) }

    /// The values as a request reads them; nil if there is no such subscription.
    mutating func version(for query: ValuesQuery) -> Version? {
        let known = versions.first {
            $0.form == query.form && $0.values.feed?.feed.name == query.feed?.feed.name
                && $0.values.feed?.shape == query.feed?.shape
        }
        if let known { return known }
        if snapshot == nil { snapshot = hub.snapshot(of: topic) }
        guard let snapshot else { return nil }
        let values = CurrentValues(
            upstream: query.upstream,
            table: snapshot.table,
            isStale: !(snapshot.status?.delivers ?? false),
            feed: query.feed
        )
        let version = Version(values, query.form)
        versions.append(version)
        return version
    }
}
