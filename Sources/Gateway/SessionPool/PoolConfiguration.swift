package import LightstreamerClient
internal import Primitives
package import SessionCore

/// The upstreams, quotas and lingers of a pool.
package struct PoolConfiguration: Sendable, Equatable {
    package var upstreams: [UpstreamConfiguration]
    /// The addresses that requests may name instead of an upstream; none by default.
    package var allowedAddresses = AddressAllowList([])
    /// The edition of the class reference whose defaults the options have. Default `new`.
    package var edition = ClientConfiguration.Edition.new
    /// How many sessions this process opens to one server. Default: that of the client library.
    package var sessionLimit = SessionLimit()
    /// How long an upstream subscription is kept after its last user. Default 5 s.
    package var subscriptionLinger: Duration = .seconds(5)
    /// How long a pooled session is kept after its last subscription. Default 30 s.
    package var sessionLinger: Duration = .seconds(30)
    /// How long a dedicated client without streams and calls is kept. Default 10 min.
    package var clientIdle: Duration = .seconds(600)
    /// How long a subscription that a request has created is kept without streams, reads and changes. Default 10 min.
    package var subscriptionIdle: Duration = .seconds(600)
    /// How many dedicated clients may exist. Default 1,000.
    package var maxDedicatedClients = 1_000
    /// How many dedicated clients one caller may have; nil, the default: a quarter.
    package var maxDedicatedClientsPerCaller: Int?
    package var dedicatedClientsShare: Int { maxDedicatedClientsPerCaller ?? max(1, maxDedicatedClients / 4) }
    /// How many subscription resources may exist. Default 100,000.
    package var maxSubscriptionResources = 100_000
    /// The bytes of the unfinished messages of all clients. Default 128 MiB.
    package var maxMessageBytes = 128 << 20
    /// The bytes of the values of an upstream that names no other limit; 0: no limit.
    package var maxValueBytes = 0

    /// The most bytes of the values of an upstream, or with an empty name of all clients by address; 0: no limit.
    func mostValueBytes(of upstream: String) -> Int {
        let own = upstreams.first { $0.name == upstream }?.maxValueBytes ?? 0
        return own > 0 ? own : maxValueBytes
    }

    package init(upstreams: [UpstreamConfiguration] = []) { self.upstreams = upstreams }

    /// The upstream of requests that name none: the one that is marked as default, else the only one; nil without either.
    package var defaultUpstream: UpstreamConfiguration? {
        upstreams.first(where: \.isDefault) ?? (upstreams.count == 1 ? upstreams[0] : nil)
    }
}

/// A named Lightstreamer server, as the operator configured it.
package struct UpstreamConfiguration: Sendable, Equatable {
    /// The name that requests use.
    package var name: String
    /// The server address: http or https, no query.
    package var serverAddress: String
    /// The adapter set; nil: the server's `DEFAULT`.
    package var adapterSet: String?
    /// The user that pooled sessions authenticate as; nil: none.
    package var user: String?
    /// The password that goes with the user. Never shown.
    package var password: String?
    /// The addresses that its control links may name, beside its own address and those in `allowedAddresses`.
    package var controlLinks = AddressAllowList([])
    /// How `https` servers are verified, and the client certificate.
    package var tls = TLSSettings()
    /// The public keys of which the server must have one, as in `ConnectionDetails.certificatePins`; empty: any key.
    package var certificatePins: [String] = []
    package var proxy: ProxySettings?
    /// The credentials for HTTP authentication by the server; nil: none.
    package var httpCredentials: HTTPCredentials?
    package var options = ConnectionOptionValues()
    /// Whether requests that name no upstream use this one. Default false; the only upstream is used in any case.
    package var isDefault = false
    /// How many pooled sessions may be open at a time. Default 8.
    package var maxSessions = 8
    /// How many subscriptions one pooled session carries before a further session opens. Default 500.
    package var maxSubscriptionsPerSession = 500
    /// How many subscriptions all pooled sessions together may carry. Default 4,000.
    package var maxSubscriptions = 4_000
    /// The most items of all pooled subscriptions; a group, and each KiB of names, counts as one. Default 100,000.
    package var maxItems = 100_000
    /// How many bytes the values of all subscriptions of the upstream may have; 0: the share of the pool's configuration.
    package var maxValueBytes = 0

    /// An upstream with default quotas and options.
    package init(name: String, serverAddress: String, adapterSet: String? = nil) {
        self.name = name
        self.serverAddress = serverAddress
        self.adapterSet = adapterSet
    }
}

extension UpstreamConfiguration {
    /// Sets TLS, proxy and HTTP credentials of new clients.
    package func apply(to configuration: inout ClientConfiguration) {
        configuration.tls = tls
        configuration.proxy = proxy
        configuration.httpCredentials = httpCredentials
        // The credentials are for the configured server, not for other servers to which it refers its clients.
        configuration.httpCredentials?.host = ServerAddress(serverAddress)?.host
    }

    /// Sets options and certificate pins of a new client.
    package func apply(to client: LightstreamerClient) throws(ClientError) {
        try client.connectionOptions.update { $0 = options }
        if !certificatePins.isEmpty { try client.connectionDetails.setCertificatePins(certificatePins) }
    }
}

/// How many HTTP streaming sessions the clients of this process open to one server, and what happens beyond that: the
/// two properties of the class reference that all clients share.
package struct SessionLimit: Sendable, Equatable {
    /// How many sessions; clipped to 0…6. Default 3.
    package var maxConcurrentSessionsPerServer = 3 {
        didSet {
            let ceiling = ConnectionOptions.maxConcurrentSessionsPerServerCeiling
            maxConcurrentSessionsPerServer = min(max(maxConcurrentSessionsPerServer, 0), ceiling)
        }
    }
    /// The behavior of `connect` beyond this number. Default `NONE`.
    package var policy = ConnectionOptions.SessionLimitPolicy.none

    package init() {}

    /// Applies the limit to all clients of this process.
    package func apply() {
        ConnectionOptions.maxConcurrentSessionsPerServer = maxConcurrentSessionsPerServer
        ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = policy
    }
}

extension AddressAllowList {
    /// This list extended by the server of an address; unchanged if the address is not valid.
    func adding(_ address: String) -> AddressAllowList {
        guard let server = ServerAddress(address) else { return self }
        return AddressAllowList(entries + [Entry(host: server.host, port: server.effectivePort)])
    }

    /// Parses `HOST:PORT`, with `[…]` around an IPv6 literal; `*` stands for any host or any port. Nil for any other
    /// text and for a port out of range.
    package static func entry(_ pattern: String) -> Entry? {
        guard let colon = pattern.lastIndex(of: ":") else { return nil }
        guard let host = host(String(pattern[..<colon])) else { return nil }
        let port = pattern[pattern.index(after: colon)...]
        if port == "*" { return Entry(host: host == "*" ? nil : host, port: nil) }
        guard port.hasASCIIDigitsOnly, let number = Int(port), (1...65_535).contains(number) else { return nil }
        return Entry(host: host == "*" ? nil : host, port: number)
    }

    private static func host(_ text: String) -> String? {
        var host = text
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let isPlain = host.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@")
        }
        return host.isEmpty || !isPlain ? nil : host
    }
}
