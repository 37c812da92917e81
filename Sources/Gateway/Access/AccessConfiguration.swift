/// Who may come in, and how often.
package struct AccessConfiguration: Sendable, Equatable {
    /// How callers prove who they are.
    package enum Mode: String, Sendable, CaseIterable {
        /// Nobody is asked. The default on a loopback address; elsewhere it must be written out.
        case none
        /// By an API key.
        case keys
        /// By a signed token (RFC 7519).
        case jwt
    }

    /// What `auth` says; nil: not written.
    package var written: Set<Mode>?
    /// The API keys.
    package var keys: [KeyConfiguration] = []
    /// Which tokens are taken.
    package var webTokens = WebTokenConfiguration()
    /// The cookie that may carry a key or token; nil: none may. Default `gateway_token`.
    package var cookie: String? = "gateway_token"
    /// How long a ticket waits for its stream. Default 30 s.
    package var ticketLifetime = Duration.seconds(30)
    /// The origins whose pages may use the gateway, as `Origin` has them; `*` stands for any. Default: none.
    package var origins: [String] = []
    /// How often callers may come.
    package var limits = RateConfiguration()

    /// Nothing written.
    package init() {}

    /// The ways that count: those written, else those that something is configured for. Empty: nothing is said at all.
    package var modes: Set<Mode> {
        if let written { return written }
        var modes: Set<Mode> = []
        if !keys.isEmpty { modes.insert(.keys) }
        if webTokens.hasKeys { modes.insert(.jwt) }
        return modes
    }

    /// Whether nobody is asked who they are.
    package var isOpen: Bool { modes.isEmpty || modes == [.none] }
}

/// One API key: whom it stands for and what it allows.
package struct KeyConfiguration: Sendable, Equatable {
    /// The name that logs and owners carry.
    package var name: String
    /// The hash of the key; nil while it is not read.
    package var hash: KeyHash?
    /// What it allows. Default: `read` and `subscribe`, all upstreams, all items.
    package var rights = Rights(
        operations: [.read, .subscribe],
        upstreams: [WildcardPattern("*")],
        items: [WildcardPattern("*")]
    )

    /// A key with the default rights.
    package init(name: String, hash: KeyHash? = nil) {
        self.name = name
        self.hash = hash
    }
}

/// Which tokens are taken, and what they allow.
package struct WebTokenConfiguration: Sendable, Equatable {
    /// The names of claims.
    package struct Claims: Sendable, Equatable {
        /// Whom the token stands for. Default `sub`.
        package var subject = "sub"
        /// What its holder may do: words, in a list or parted by spaces. Default `operations`.
        package var operations = "operations"
        /// With which upstreams: patterns, likewise. Default `upstreams`.
        package var upstreams = "upstreams"
        /// With which items: patterns, likewise. Default `items`.
        package var items = "items"
        /// How many streams at a time. Default `streams`.
        package var streams = "streams"
        /// How many requests a second. Default `rate`.
        package var rate = "rate"

        /// The default names.
        package init() {}
    }

    /// The secret of HS256, 32 bytes at least; nil: such tokens are refused.
    package var secret: String?
    /// The PEM public key of RS256 or ES256; nil: none.
    package var publicKey: String?
    /// A JWK set with public keys of RS256 and ES256; nil: none.
    package var keySet: String?
    /// The issuer that tokens must have; nil: any.
    package var issuer: String?
    /// The audience that tokens must have; nil: tokens must not name any.
    package var audience: String?
    /// How far the clocks of issuer and gateway may differ. Default 30 s.
    package var leeway = Duration.seconds(30)
    /// The names of claims.
    package var claims = Claims()
    /// What a token allows in each part for which it has no claim. Default: nothing.
    package var rights = Rights.none

    /// No tokens.
    package init() {}

    /// Whether there is something to verify tokens with.
    package var hasKeys: Bool { secret != nil || publicKey != nil || keySet != nil }
}

/// How often callers may come.
package struct RateConfiguration: Sendable, Equatable {
    /// Requests a second from one address; 0: no limit. Default 100.
    package var rate = 100.0
    /// How many requests may come at once. Default 200.
    package var burst = 200.0
    /// Whether this machine's own addresses are limited as well. Default false.
    package var countsLoopback = false

    /// The defaults.
    package init() {}
}
