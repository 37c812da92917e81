internal import Changes
internal import EventHub
internal import MicroHTTPD
internal import SessionCore

/// The values of a subscription at one moment, in the forms in which requests read them. Each form is made once.
struct CurrentVersions {
    /// The values in one form.
    struct Version: Sendable {
        let values: CurrentValues
        /// The content of responses with the values.
        let content: Content
        let hasSnapshot: Bool
        /// Why no key has second-level values; nil if the server has not refused those of all keys.
        let secondLevelRefusal: UpstreamRefusal?
        /// Whether every item has its snapshot, and every key its second-level values or a refusal, with values for one key.
        let isComplete: Bool

        init(values: CurrentValues, content: Content) {
            (self.values, self.content) = (values, content)
            var progress = SnapshotProgress()
            hasSnapshot = progress.isComplete(values.table)
            secondLevelRefusal = values.table.secondLevelRefusal
            isComplete = hasSnapshot && secondLevelRefusal == nil && values.table.hasSecondLevels
        }
    }

    /// The content of responses with values in one form.
    final class Content: Sendable {
        let version: ValuesVersion
        let form: ValuesForm
        /// The bytes; nil for no content.
        let encoded: EncodedTable?
        let tag: EntityTag

        init(_ values: CurrentValues, _ form: ValuesForm, _ version: ValuesVersion) {
            (self.version, self.form) = (version, form)
            encoded = values.encoded(as: form)
            // Null has no content, unlike an empty text.
            let hash = encoded.map { EntityTag(of: $0.bytes).opaque } ?? "null"
            let content = hash + (values.isStale ? "-s" : "-f")
            tag = EntityTag("\(content)-\(form.rawValue)", isWeak: true)
        }

        func response(
            to call: Call,
            _ query: ValuesQuery,
            _ caching: CachePolicy,
            at now: Moment,
            _ limits: DaemonConfiguration
        ) -> Response {
            let length = encoded?.length(at: now) ?? 0
            guard length <= ValuesView.mostTableBytes else {
                let problem = Problem(.invalidValue, detail: "The values are too large: select fewer items or fields.")
                return ProblemDetails.response(to: call, for: problem)
            }
            let isKnown: Bool
            do { isKnown = try tag.isKnown(to: call) } catch { return ProblemDetails.response(to: call, for: error) }
            var response = Response(status: isKnown ? 304 : encoded == nil ? 204 : 200)
            if isKnown {
                response.body = length > 0 ? .omitted(length) : .empty
            } else if let encoded {
                response.headers.append("Content-Type", form.mediaType)
                response.body = .bytes(encoded.json(at: now))
            }
            response.headers.append("ETag", tag.description)
            let isNext = query.cursor != nil && query.cursor != tag.opaque
            response.headers.append("Cache-Control", isNext ? caching.headerAfterCursor : caching.header)
            response.headers.append("Vary", "Accept")
            if let link = query.link(after: tag, of: call.request, limits) { response.headers.append("Link", link) }
            return query.isWaitRequested ? response.waited(query.wait) : response
        }
    }

    private let hub: EventHub
    private let topic: SubscriptionID
    private let isBehind: Bool
    private var snapshot: SubscriptionSnapshot?
    private var versions: [Version] = []

    /// The values that `topic` has when the first of them are asked for.
    ///
    /// - Parameter contact: Without contact, the values may be old: other gateways may have newer ones.
    init(of topic: SubscriptionID, in hub: EventHub, _ contact: Contact) {
        (self.topic, self.hub, isBehind) = (topic, hub, contact == .none)
    }

    /// The values as a request reads them; nil if there is no such subscription.
    mutating func version(for query: ValuesQuery) -> Version? {
        let known = versions.first {
            $0.content.form == query.form && $0.values.feed?.feed.name == query.feed?.feed.name
                && $0.values.feed?.shape == query.feed?.shape
        }
        if let known { return known }
        if snapshot == nil { snapshot = hub.snapshot(of: topic) }
        guard let snapshot else { return nil }
        let values = CurrentValues(
            upstream: query.upstream,
            table: snapshot.table,
            isStale: isBehind || snapshot.status?.transport == nil,
            feed: query.feed
        )
        let version = Version(values: values, content: Content(values, query.form, snapshot.version))
        versions.append(version)
        return version
    }
}
