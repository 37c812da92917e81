internal import LightstreamerClient
internal import SessionCore
internal import SessionPool

extension Settings {
    /// The settings of the pool. The edition precedes the upstreams, because their options begin with its defaults.
    static let pool: [Setting] = {
        let pool = SettingGroup("pool.", \.pool)
        return [
            SettingGroup("", \.pool).choice("edition", \.edition)
                .means("The edition of the class reference whose defaults the connection options have."),
            pool.seconds("subscriptionLinger", \.subscriptionLinger, zeroAllowed: true)
                .means("How long an upstream subscription stays after its last user has left."),
            pool.seconds("sessionLinger", \.sessionLinger, zeroAllowed: true)
                .means("How long a pooled session stays after its last subscription has ended."),
            pool.seconds("clientIdle", \.clientIdle)
                .means("How long a dedicated client lives without a stream and without a request."),
            pool.seconds("subscriptionIdle", \.subscriptionIdle)
                .means("How long a subscription of a request lives without a stream, a read or a change."),
            pool.integer("maxDedicatedClients", \.maxDedicatedClients, 0...1_000_000)
                .means("Dedicated clients at a time."),
            pool.integer(
                "maxDedicatedClientsPerCaller",
                \.maxDedicatedClientsPerCaller,
                0...1_000_000,
                default: "a quarter of pool.maxDedicatedClients"
            )
            .means("Dedicated clients of one key, or of one subject of tokens, on one replica."),
            pool.integer("maxSubscriptions", \.maxSubscriptionResources, 1...10_000_000)
                .means("Subscription resources at a time."),
            pool.integer("maxMessages", \.maxMessageBytes, 1...1 << 40, unit: "bytes")
                .means(
                    "The messages in memory at a time that wait to be sent or for their outcome; one caller has half of it."
                ),
            addresses(pool, "allowUpstream", \.allowedAddresses)
                .means("The addresses that requests, and the control links of servers, may name."),
            pool.integer("maxConcurrentSessionsPerServer", \.sessionLimit.maxConcurrentSessionsPerServer, 0...1_000_000)
                .means(
                    "HTTP streaming sessions of this process with one server, as in the class reference; at most 6 count."
                ),
            pool.choice("maxConcurrentSessionsPerServerExceededPolicy", \.sessionLimit.policy)
                .means(
                    "What a client does beyond that number: NONE connects, USE-POLLING polls, BLOCK does not connect."
                ),
        ]
    }()

    /// The settings of each upstream; `*` is its name.
    static let upstreams: [Setting] = {
        let upstream = SettingGroup("upstreams.*.", each: \.pool.upstreams, \.name) { all, name in
            var upstream = UpstreamConfiguration(name: name, serverAddress: "")
            upstream.options = all.pool.edition.defaultOptions
            return upstream
        }
        return servers(upstream) + tls(upstream) + proxy(upstream) + credentials(upstream) + quotas(upstream)
            + ConnectionOption.all.map { option($0, of: upstream) }
    }()

    private typealias UpstreamGroup = SettingGroup<UpstreamConfiguration>

    private static func servers(_ upstream: UpstreamGroup) -> [Setting] {
        [
            upstream.text("serverAddress", "an http or https URL", \.serverAddress).means("The Lightstreamer server."),
            upstream.text("adapterSet", "a name", \.adapterSet, default: "the server's DEFAULT")
                .means("The adapter set."),
            upstream.text("user", "a name", \.user).means("The user that sessions authenticate as."),
            upstream.secret("password", "a secret", \.password).means("The user's password."),
            upstream.setting("edition", .choice(ClientConfiguration.Edition.allCases.map(\.rawValue))) { _ in
                "that of edition"
            } apply: { upstream, text throws(SettingError) in
                let edition: ClientConfiguration.Edition = try SettingValue.choice(text)
                upstream.options = edition.defaultOptions
            }
            .means("The edition of the class reference whose option defaults the clients of the upstream have."),
            upstream.flag("default", \.isDefault)
                .means("Whether requests that name no upstream use this one; the only upstream is used in any case."),
            addresses(upstream, "controlLinks", \.controlLinks)
                .means(
                    "The addresses, beside its own and those of pool.allowUpstream, that the server's control links may name."
                ),
        ]
    }

    private static func tls(_ upstream: UpstreamGroup) -> [Setting] {
        [
            upstream.secret("tls.ca", "PEM", \.authorities)
                .means("The certificate authorities that certify the server, instead of the system's."),
            upstream.secret("tls.certificate", "PEM", \.identity.certificateChain)
                .means("The client certificate, with its intermediate ones."),
            upstream.secret("tls.key", "PEM", \.identity.privateKey)
                .means("The private key of the client certificate, not encrypted."),
            upstream.setting("tls.pins", .list(of: "sha256/BASE64")) {
                SettingValue.text($0.certificatePins)
            } apply: { upstream, text throws(SettingError) in
                upstream.certificatePins = SettingValue.list(text)
            }
            .means("The digests of public keys of which the verified certificate chain of the server must have one."),
        ]
    }

    private static func proxy(_ upstream: UpstreamGroup) -> [Setting] {
        [
            upstream.setting("proxy.address", .text("HOST:PORT")) {
                $0.proxy.map { "\($0.host):\($0.port)" } ?? "none"
            } apply: { upstream, text throws(SettingError) in
                guard let address = AddressAllowList.entry(text), let host = address.host, let port = address.port
                else { throw SettingError(rule: "must be HOST:PORT") }
                (upstream.presentProxy.host, upstream.presentProxy.port) = (host, port)
            }
            .means("The HTTP proxy to connect through."),
            upstream.text("proxy.user", "a name", \.presentProxy.user)
                .means("The user for the proxy (Digest or Basic authentication)."),
            upstream.secret("proxy.password", "a secret", \.presentProxy.password)
                .means("The password for the proxy."),
        ]
    }

    private static func credentials(_ upstream: UpstreamGroup) -> [Setting] {
        [
            upstream.text("http.user", "a name", \.credentials.user, default: "none")
                .means(
                    "The user for HTTP authentication (Digest or Basic) by the server, or by a proxy in front of it."
                ),
            upstream.secret("http.password", "a secret", \.credentials.password)
                .means("The password for HTTP authentication."),
        ]
    }

    private static func quotas(_ upstream: UpstreamGroup) -> [Setting] {
        [
            upstream.integer("maxSessions", \.maxSessions, 1...100_000).means("Pooled sessions at a time."),
            upstream.integer("maxSubscriptionsPerSession", \.maxSubscriptionsPerSession, 1...1_000_000)
                .means("Subscriptions on one session before another session opens."),
            upstream.integer("maxSubscriptions", \.maxSubscriptions, 1...10_000_000)
                .means("Pooled subscriptions at a time."),
            upstream.integer("maxItems", \.maxItems, 1...100_000_000)
                .means("Items of pooled subscriptions at a time; a group counts as one."),
            upstream.integer("maxValues", \.maxValueBytes, 0...1 << 40, unit: "bytes")
                .means(
                    "The values that the subscriptions of the upstream keep; beyond it a subscription of the caller with the "
                        + "most of them ends with an error. 0: an equal share of a quarter of the memory of the machine or "
                        + "container."
                ),
        ]
    }

    private static func option(_ option: ConnectionOption, of upstream: UpstreamGroup) -> Setting {
        let isHeaders = if case .headers = option.storage { true } else { false }
        return upstream.setting("options.\(option.name)", type(of: option), isSecret: isHeaders) { upstream in
            let (newer, older) = (
                option.text(in: upstream.options), option.text(in: ClientConfiguration.Edition.old.defaultOptions)
            )
            return newer == older ? newer : "\(newer); edition old: \(older)"
        } apply: { upstream, text throws(SettingError) in
            do throws(ClientError) {
                try option.read(text.replacing(SettingValue.end, with: "\n"), into: &upstream.options)
            } catch {
                throw SettingError(rule: error.rule)
            }
        }
        .means("Connection option: \(option.meaning)")
    }

    private static func type(of option: ConnectionOption) -> Setting.ValueType {
        switch option.storage {
        case .seconds(_, let zeroAllowed):
            .seconds(zeroAllowed: zeroAllowed, most: ConnectionOption.longestTime)
        case .bytes: .integer(1...Int(clamping: ConnectionOption.mostBytes), unit: "bytes")
        case .flag: .flag
        case .transport: .choice(ForcedTransport.allCases.map(\.rawValue))
        case .headers: .lines(of: "Name: value")
        case .bandwidth: .number("unlimited or kbit/s")
        case .connectTimeout: .number("auto or seconds")
        }
    }

    private static func addresses<Part>(
        _ group: SettingGroup<Part>,
        _ key: String,
        _ path: SettingGroup<Part>.Path<AddressAllowList>
    ) -> Setting {
        group.setting(key, .list(of: "HOST:PORT, * for any")) {
            SettingValue.text($0[keyPath: path].entries.map { "\($0.host ?? "*"):\($0.port.map(String.init) ?? "*")" })
        } apply: { part, text throws(SettingError) in
            let expectation = "HOST:PORT, with * for any host or any port"
            part[keyPath: path].entries += try SettingValue.elements(text, expectation, AddressAllowList.entry)
        }
    }
}

/// The parts that are missing until one of their settings is read; another one may be read later.
extension UpstreamConfiguration {
    fileprivate var authorities: String {
        get { if case .pem(let text) = tls.trust { text } else { "" } }
        set { tls.trust = .pem(newValue) }
    }

    fileprivate var identity: TLSSettings.Identity {
        get { tls.identity ?? .init(certificateChain: "", privateKey: "") }
        set { tls.identity = newValue }
    }

    fileprivate var presentProxy: ProxySettings {
        get { proxy ?? ProxySettings(host: "", port: 0) }
        set { proxy = newValue }
    }

    fileprivate var credentials: HTTPCredentials {
        get { httpCredentials ?? HTTPCredentials(user: "", password: "") }
        set { httpCredentials = newValue }
    }
}
