internal import SessionPool

/// The values of sources that a request leaves out.
struct SourceDefaults: Sendable {
    /// The names of all upstreams.
    let upstreams: [String]
    /// The upstream of sources that name none; nil: each source has to name one.
    let upstream: String?
    /// The feeds that sources may name.
    let feeds: [FeedConfiguration]

    /// The defaults of a configuration.
    init(_ configuration: GatewayConfiguration) {
        upstreams = configuration.pool.upstreams.map(\.name)
        upstream = configuration.pool.defaultUpstream?.name
        feeds = configuration.feeds
    }

    /// The rule that a source without an upstream breaks where none is the default.
    var upstreamRule: String {
        guard upstreams.count > 1 else { return "It is required: no upstream is configured." }
        return "It is required, because there are \(upstreams.count) upstreams and none is the default."
    }
}

extension Services {
    /// The values of sources that requests leave out.
    var sourceDefaults: SourceDefaults { SourceDefaults(configuration) }
}
