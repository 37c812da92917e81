/// Authentication, authorization and rate limits.
package struct AccessConfiguration: Sendable, Equatable {
    package enum Mode: String, Sendable, CaseIterable {
        /// Callers need no credentials. The default on a loopback address; elsewhere it must be configured.
        case none
        case keys
        /// By a signed token (RFC 7519).
        case jwt
    }

    /// The modes that `auth` lists; nil: `auth` is not configured.
    package var configuredModes: Set<Mode>?
    /// The feeds that callers without credentials may read.
    package var publicFeeds: [FeedConfiguration] = []
    package var keys: [KeyConfiguration] = []
    /// The tokens that are accepted.
    package var webTokens = WebTokenConfiguration()
    /// The cookie that may carry a key or token; nil: no cookie. Default `gateway_token`.
    package var cookie: String? = "gateway_token"
    /// How long a ticket can be used to open a stream. Default 30 s.
    package var ticketLifetime = Duration.seconds(30)
    /// The origins whose pages may use the gateway, in the form of the `Origin` header; `*`: any. Default: none.
    package var origins: [String] = []
    /// The host names, besides loopback names, that requests may have while callers need no credentials. Lower case,
    /// without ports. Default: none.
    package var hosts: [String] = []
    /// The proxies whose `X-Forwarded-For` and `Forwarded` headers count. Default: none.
    package var trustedProxies: [IPNetwork] = []
    package var limits = RateConfiguration()

    /// Whether callers without credentials may read some feeds.
    package var hasPublicFeeds: Bool { !publicFeeds.isEmpty }

    /// The modes in force: those configured, else those that have keys. Empty: access is not configured at all.
    package var modes: Set<Mode> {
        if let configuredModes { return configuredModes }
        var modes: Set<Mode> = []
        if !keys.isEmpty { modes.insert(.keys) }
        if webTokens.hasKeys { modes.insert(.jwt) }
        return modes
    }

    /// Whether callers need no credentials.
    package var isOpen: Bool { modes.isEmpty || modes == [.none] }

    /// The rule that a gateway breaks which listens on a host with this access; nil if it breaks none.
    func violation(listeningOn host: String) -> String? {
        guard modes.isEmpty, !ListeningAddress.isLoopback(host) else { return nil }
        return "is not a loopback address: configure auth.keys or auth.jwt, or auth: none to admit every caller"
    }
}

/// One API key: its name and its rights.
package struct KeyConfiguration: Sendable, Equatable {
    /// The name in logs, and as the owner of resources.
    package var name: String
    /// The hash of the key; nil before it is configured.
    package var hash: KeyHash?
    /// The rights of its holder. Default: `read` and `subscribe`, all upstreams, all items, with default quotas.
    package var rights = Rights(
        operations: [.read, .subscribe],
        upstreams: [WildcardPattern("*")],
        items: [WildcardPattern("*")],
        maxSubscriptions: Rights.defaultQuotas.subscriptions,
        maxItems: Rights.defaultQuotas.items
    )
}

/// The tokens that are accepted, and the rights that they give.
package struct WebTokenConfiguration: Sendable, Equatable {
    package struct Claims: Sendable, Equatable {
        /// The identity of the holder. Default `sub`.
        package var subject = "sub"
        /// The permitted operations: words, in a list or separated by spaces. Default `operations`.
        package var operations = "operations"
        /// The permitted upstreams: patterns, likewise. Default `upstreams`.
        package var upstreams = "upstreams"
        /// The permitted items: patterns, likewise. Default `items`.
        package var items = "items"
        /// The permitted data adapters: patterns, likewise. Default `dataAdapters`.
        package var dataAdapters = "dataAdapters"
        /// The permitted feeds: patterns, likewise. Default `feeds`.
        package var feeds = "feeds"
        /// The most open streams. Default `streams`.
        package var streams = "streams"
        /// The request rate. Default `rate`.
        package var rate = "rate"
    }

    /// The secret of HS256, 32 bytes at least; nil: HS256 tokens are refused.
    package var secret: String?
    /// The PEM public key of RS256 or ES256; nil: none.
    package var publicKey: String?
    /// A JWK set with public keys of RS256 and ES256; nil: none.
    package var keySet: String?
    /// The URL of a JWK set, which is loaded again after `keySetRefresh`; nil: none.
    package var keySetURL: String?
    /// How often the JWK set of `keySetURL` is loaded. Default 300 s.
    package var keySetRefresh = Duration.seconds(300)
    /// The issuer that tokens must have; nil: any.
    package var issuer: String?
    /// The audience that tokens must have; nil: tokens must not name any.
    package var audience: String?
    /// The largest difference between the clocks of issuer and gateway. Default 30 s.
    package var leeway = Duration.seconds(30)
    /// The longest time from the issue of a token (without one: from now) to its expiry. Default 24 h.
    package var longestLifetime = Duration.seconds(86_400)
    package var claims = Claims()
    /// The rights of a token in each part for which it has no claim, and its quotas. Default: none,
    /// with default quotas.
    package var rights = Rights(
        operations: [],
        upstreams: [],
        items: [],
        maxSubscriptions: Rights.defaultQuotas.subscriptions,
        maxItems: Rights.defaultQuotas.items
    )

    /// Whether a key to verify tokens is configured.
    package var hasKeys: Bool { secret != nil || publicKey != nil || keySet != nil || keySetURL != nil }
}

package struct RateConfiguration: Sendable, Equatable {
    /// The rates that keys, tokens and addresses can have.
    package static let range = 0.001...1e6

    /// Requests a second from one address; 0: no limit. Default 100.
    package var rate = 100.0
    /// The most requests that are accepted at once. Default 200.
    package var burst = 200.0
    /// Whether loopback addresses are limited as well. Default false.
    package var countsLoopback = false
    /// The most subscriptions that requests without credentials may use at a time. Default: that of a key.
    package var maxSubscriptions = Rights.defaultQuotas.subscriptions
    /// The most items that these subscriptions may have together. Default: that of a key.
    package var maxItems = Rights.defaultQuotas.items
}
