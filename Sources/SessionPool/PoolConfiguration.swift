package import LightstreamerClient
package import SessionCore

/// What the pool is told at its start.
package struct PoolConfiguration: Sendable, Equatable {
    /// The configured upstreams.
    package var upstreams: [UpstreamConfiguration]
    /// The addresses that requests may name instead of an upstream; none by default.
    package var allowedAddresses = AddressAllowList([])
    /// The edition of the class reference that the defaults of options are those of. Default `new`.
    package var edition = ClientConfiguration.Edition.new
    /// How many sessions one server gets from this process. Default: the client library's.
    package var sessionLimit = SessionLimit()
    /// How long an upstream subscription outlives its last user. Default 5 s.
    package var subscriptionLinger: Duration = .seconds(5)
    /// How long a pooled session outlives its last subscription. Default 30 s.
    package var sessionLinger: Duration = .seconds(30)
    /// How long a dedicated client lives without a stream and without a call. Default 10 min.
    package var clientIdle: Duration = .seconds(600)
    /// How many dedicated clients may exist. Default 1,000.
    package var maxDedicatedClients = 1_000
    /// How many subscription resources may exist. Default 100,000.
    package var maxSubscriptionResources = 100_000

    /// A pool over these upstreams.
    package init(upstreams: [UpstreamConfiguration] = []) {
        self.upstreams = upstreams
    }
}
