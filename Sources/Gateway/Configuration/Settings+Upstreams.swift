internal import LightstreamerClient
internal import SessionCore
internal import SessionPool

extension Settings {
    /// The keys of each upstream; `*` is its name.
    static let upstreams: [Setting] = servers + network + quotas + options

    private static let servers: [Setting] = [
        Setting("upstreams.*.serverAddress", "an http or https URL", default: "required", "The Lightstreamer server.") {
            all,
            name,
            text in
            all.pool.upstream(name) { $0.serverAddress = text }
        },
        Setting("upstreams.*.adapterSet", "a name", default: "the server's DEFAULT", "The adapter set.") {
            all,
            name,
            text in
            all.pool.upstream(name) { $0.adapterSet = text }
        },
        Setting("upstreams.*.user", "a name", default: "none", "The user that sessions authenticate as.") {
            all,
            name,
            text in
            all.pool.upstream(name) { $0.user = text }
        },
        Setting("upstreams.*.password", "a secret", default: "none", "The user's password.", isSecret: true) {
            all,
            name,
            text in
            all.pool.upstream(name) { $0.password = text }
        },
        Setting(
            "upstreams.*.edition",
            "new, old",
            default: "that of edition",
            "The edition of the class reference whose option defaults hold for its clients."
        ) { all, name, text throws(SettingError) in
            let edition: ClientConfiguration.Edition = try SettingValue.choice(text)
            all.pool.upstream(name) { $0.options = edition.defaultOptions }
        },
    ]

    private static let network: [Setting] = [
        Setting(
            "upstreams.*.controlLinks",
            "a list of HOST:PORT, * for any",
            default: "none",
            "The addresses beside its own, and those of pool.allowUpstream, that the server may send clients to."
        ) { all, name, text throws(SettingError) in
            let entries = try AddressAllowList.entries(text)
            all.pool.upstream(name) { $0.controlLinks.entries = entries }
        },
        Setting(
            "upstreams.*.options.httpExtraHeaders",
            "Name: value, one a line",
            default: "none",
            "The connection option httpExtraHeaders of the class reference.",
            isSecret: true
        ) { all, name, text throws(SettingError) in
            let headers = try headers(text)
            all.pool.upstream(name) { $0.options.httpExtraHeaders = headers }
        },
    ]

    private static func headers(_ text: String) throws(SettingError) -> [String: String] {
        var headers: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) where !line.trimmed.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, headers.updateValue(String(parts[1].trimmed), forKey: String(parts[0])) == nil
            else {
                throw SettingError(rule: "must be lines of Name: value, each name once")
            }
        }
        return headers
    }

    private static let quotas: [Setting] = [
        Setting("upstreams.*.maxSessions", "number", default: "8", "Pooled sessions at a time.") {
            all,
            name,
            text throws(SettingError) in
            let number = try SettingValue.integer(text, 1...100_000)
            all.pool.upstream(name) { $0.maxSessions = number }
        },
        Setting(
            "upstreams.*.maxSubscriptionsPerSession",
            "number",
            default: "500",
            "Subscriptions on one session before a further one opens."
        ) { all, name, text throws(SettingError) in
            let number = try SettingValue.integer(text, 1...1_000_000)
            all.pool.upstream(name) { $0.maxSubscriptionsPerSession = number }
        },
        Setting("upstreams.*.maxSubscriptions", "number", default: "4000", "Pooled subscriptions at a time.") {
            all,
            name,
            text throws(SettingError) in
            let number = try SettingValue.integer(text, 1...10_000_000)
            all.pool.upstream(name) { $0.maxSubscriptions = number }
        },
        Setting("upstreams.*.maxItems", "number", default: "100000", "Items of pooled subscriptions at a time.") {
            all,
            name,
            text throws(SettingError) in
            let number = try SettingValue.integer(text, 1...100_000_000)
            all.pool.upstream(name) { $0.maxItems = number }
        },
    ]

    private static let options: [Setting] = [
        option("connectTimeout", "auto or seconds", "auto") { options, text throws(SettingError) in
            options.connectTimeout = text == "auto" ? .auto : .seconds(try SettingValue.seconds(text))
        },
        option("currentConnectTimeout", "seconds", "4", seconds: \.currentConnectTimeout),
        option("contentLength", "bytes", "50000000") { options, text throws(SettingError) in
            options.contentLength = UInt64(try SettingValue.integer(text, 1...Int.max))
        },
        option("firstRetryMaxDelay", "seconds", "0.1", seconds: \.firstRetryMaxDelay),
        option("forcedTransport", "WS, WS-STREAMING, …", "none") { options, text throws(SettingError) in
            let transport: ForcedTransport = try SettingValue.choice(text)
            options.forcedTransport = transport
        },
        option("idleTimeout", "seconds", "19", seconds: \.idleTimeout, zeroAllowed: true),
        option("keepaliveInterval", "seconds", "0", seconds: \.keepaliveInterval, zeroAllowed: true),
        option("pollingInterval", "seconds", "0", seconds: \.pollingInterval, zeroAllowed: true),
        option("requestedMaxBandwidth", "unlimited or kbit/s", "unlimited") { options, text throws(SettingError) in
            options.requestedMaxBandwidth = text == "unlimited" ? .unlimited : .limited(try SettingValue.seconds(text))
        },
        option("reconnectTimeout", "seconds", "3", seconds: \.reconnectTimeout),
        option("retryDelay", "seconds", "2", seconds: \.retryDelay),
        option("reverseHeartbeatInterval", "seconds", "0", seconds: \.reverseHeartbeatInterval, zeroAllowed: true),
        option("sessionRecoveryTimeout", "seconds", "15", seconds: \.sessionRecoveryTimeout, zeroAllowed: true),
        option("stalledTimeout", "seconds", "2", seconds: \.stalledTimeout),
        option(
            "httpExtraHeadersOnSessionCreationOnly",
            "true, false",
            "false",
            boolean: \.httpExtraHeadersOnSessionCreationOnly
        ),
        option("earlyWSOpenEnabled", "true, false", "true", boolean: \.earlyWSOpenEnabled),
        option("serverInstanceAddressIgnored", "true, false", "false", boolean: \.serverInstanceAddressIgnored),
        option("slowingEnabled", "true, false", "true", boolean: \.slowingEnabled),
    ]

    private static func option(
        _ property: String,
        _ values: String,
        _ defaultValue: String,
        apply: @escaping @Sendable (inout ConnectionOptionValues, String) throws(SettingError) -> Void
    ) -> Setting {
        Setting(
            "upstreams.*.options.\(property)",
            values,
            default: defaultValue,
            "The connection option \(property) of the class reference."
        ) { all, name, text throws(SettingError) in
            var options = all.pool.upstream(name) { $0.options }
            try apply(&options, text)
            all.pool.upstream(name) { $0.options = options }
        }
    }

    private static func option(
        _ property: String,
        _ values: String,
        _ defaultValue: String,
        seconds path: any WritableKeyPath<ConnectionOptionValues, Double> & Sendable,
        zeroAllowed: Bool = false
    ) -> Setting {
        option(property, values, defaultValue) { options, text throws(SettingError) in
            options[keyPath: path] = try SettingValue.seconds(text, zeroAllowed: zeroAllowed)
        }
    }

    private static func option(
        _ property: String,
        _ values: String,
        _ defaultValue: String,
        boolean path: any WritableKeyPath<ConnectionOptionValues, Bool> & Sendable
    ) -> Setting {
        option(property, values, defaultValue) { options, text throws(SettingError) in
            options[keyPath: path] = try SettingValue.boolean(text)
        }
    }
}

extension PoolConfiguration {
    /// Reads or changes the upstream of a name, which is added if it is new.
    @discardableResult
    mutating func upstream<Result>(_ name: String, _ change: (inout UpstreamConfiguration) -> Result) -> Result {
        if let index = upstreams.firstIndex(where: { $0.name == name }) { return change(&upstreams[index]) }
        var upstream = UpstreamConfiguration(name: name, serverAddress: "")
        upstream.options = edition.defaultOptions
        defer { upstreams.append(upstream) }
        return change(&upstream)
    }
}
