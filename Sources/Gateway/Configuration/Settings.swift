internal import LightstreamerClient
internal import SessionCore
internal import SessionPool

/// The table of all keys: the one place that says which settings exist, what they mean and what they do.
package enum Settings {
    /// All keys, in the order of the documentation.
    package static let all: [Setting] = http + tls + streams + edition + pool + upstreams + access + operation

    private static let http: [Setting] = [
        Setting("http.host", "an address or name", default: "127.0.0.1", "The address to listen on.") { all, _, text in
            all.http.host = text
        },
        Setting("http.port", "0 … 65535", default: "8080", "The port to listen on; 0 takes a free one.") {
            all,
            _,
            text throws(SettingError) in
            all.http.port = UInt16(try SettingValue.integer(text, 0...65_535))
        },
        Setting("http.threads", "1 … 64", default: "1", "Threads that serve connections and write streams.") {
            all,
            _,
            text throws(SettingError) in
            all.http.shards = try SettingValue.integer(text, 1...64)
        },
        Setting("http.maxConnections", "1 … 1000000", default: "20000", "Connections at a time.") {
            all,
            _,
            text throws(SettingError) in
            all.http.connectionLimit = try SettingValue.integer(text, 1...1_000_000)
        },
        Setting(
            "http.maxConnectionsPerAddress",
            "0 … 1000000",
            default: "0",
            "Connections at a time from one address; 0: no limit."
        ) { all, _, text throws(SettingError) in
            all.http.connectionLimitPerAddress = try SettingValue.integer(text, 0...1_000_000)
        },
        Setting("http.maxBody", "bytes", default: "1048576", "The longest request body.") {
            all,
            _,
            text throws(SettingError) in
            all.http.bodyLimit = try SettingValue.integer(text, 1...1 << 30)
        },
        Setting("http.maxHeaders", "bytes", default: "16384", "The longest header section.") {
            all,
            _,
            text throws(SettingError) in
            all.http.headerLimit = try SettingValue.integer(text, 1_024...1 << 20)
        },
        Setting("http.maxRequestLine", "bytes", default: "16384", "The longest request target.") {
            all,
            _,
            text throws(SettingError) in
            all.http.targetLimit = try SettingValue.integer(text, 256...1 << 20)
        },
        Setting("http.idleTimeout", "seconds", default: "30", "How long a connection may be silent; streams excepted.")
        {
            all,
            _,
            text throws(SettingError) in
            all.http.idleTimeout = try SettingValue.duration(text)
        },
        Setting("http.requestTimeout", "seconds", default: "30", "How long a request may take to arrive.") {
            all,
            _,
            text throws(SettingError) in
            all.http.requestTimeout = try SettingValue.duration(text)
        },
    ]

    private static let streams: [Setting] = [
        Setting("streams.max", "1 … 1000000", default: "10000", "Streams at a time.") {
            all,
            _,
            text throws(SettingError) in
            all.maxStreams = try SettingValue.integer(text, 1...1_000_000)
        },
        Setting("streams.heartbeat", "seconds", default: "15", "The pause between heartbeats on a silent stream.") {
            all,
            _,
            text throws(SettingError) in
            all.hub.heartbeatInterval = try SettingValue.duration(text)
        },
        Setting("streams.retry", "seconds", default: "2", "The reconnection time that streams advise, before jitter.") {
            all,
            _,
            text throws(SettingError) in
            all.hub.retryDelay = try SettingValue.duration(text)
        },
        Setting("streams.replayBytes", "bytes", default: "1048576", "What a source keeps for streams that resume.") {
            all,
            _,
            text throws(SettingError) in
            all.hub.replayBytes = try SettingValue.integer(text, 0...1 << 34)
        },
        Setting("streams.replayEvents", "number", default: "1024", "How many events a source keeps for them.") {
            all,
            _,
            text throws(SettingError) in
            all.hub.replayEvents = try SettingValue.integer(text, 0...100_000_000)
        },
        Setting(
            "streams.window",
            "bytes",
            default: "67108864",
            "How far a stream that does not conflate may be behind before it is ended."
        ) { all, _, text throws(SettingError) in
            all.hub.windowBytes = try SettingValue.integer(text, 65_536...1 << 34)
        },
        Setting(
            "streams.windowEvents",
            "number",
            default: "1000",
            "How many unread DISTINCT and RAW events a conflating stream holds before the oldest are lost."
        ) { all, _, text throws(SettingError) in
            all.hub.windowEvents = try SettingValue.integer(text, 1...10_000_000)
        },
        Setting(
            "streams.blockedTimeout",
            "seconds",
            default: "30",
            "How long a reader may take nothing before it is cut off."
        ) { all, _, text throws(SettingError) in
            all.http.blockedStreamTimeout = try SettingValue.duration(text)
        },
        Setting(
            "streams.flushInterval",
            "seconds",
            default: "0",
            "The least time between two writing passes: milliseconds given for processor time."
        ) { all, _, text throws(SettingError) in
            all.http.flushInterval = try SettingValue.duration(text, zeroAllowed: true)
        },
    ]

    /// Read before the upstreams, whose options it begins with.
    private static let edition: [Setting] = [
        Setting(
            "edition",
            "new, old",
            default: "new",
            "The edition of the class reference that the defaults of connection options are those of."
        ) { all, _, text throws(SettingError) in
            all.pool.edition = try SettingValue.choice(text)
        }
    ]

    private static let pool: [Setting] = [
        Setting(
            "pool.subscriptionLinger",
            "seconds",
            default: "5",
            "How long an upstream subscription outlives its last user."
        ) { all, _, text throws(SettingError) in
            all.pool.subscriptionLinger = try SettingValue.duration(text, zeroAllowed: true)
        },
        Setting(
            "pool.sessionLinger",
            "seconds",
            default: "30",
            "How long a pooled session outlives its last subscription."
        ) { all, _, text throws(SettingError) in
            all.pool.sessionLinger = try SettingValue.duration(text, zeroAllowed: true)
        },
        Setting(
            "pool.clientIdle",
            "seconds",
            default: "600",
            "How long a dedicated client lives without a stream and without a call."
        ) { all, _, text throws(SettingError) in
            all.pool.clientIdle = try SettingValue.duration(text)
        },
        Setting("pool.maxDedicatedClients", "number", default: "1000", "Dedicated clients at a time.") {
            all,
            _,
            text throws(SettingError) in
            all.pool.maxDedicatedClients = try SettingValue.integer(text, 0...1_000_000)
        },
        Setting("pool.maxSubscriptions", "number", default: "100000", "Subscription resources at a time.") {
            all,
            _,
            text throws(SettingError) in
            all.pool.maxSubscriptionResources = try SettingValue.integer(text, 1...10_000_000)
        },
        Setting(
            "pool.allowUpstream",
            "a list of HOST:PORT, * for any",
            default: "none",
            "The addresses that requests, and the control links of servers, may name."
        ) { all, _, text throws(SettingError) in
            all.pool.allowedAddresses.entries += try AddressAllowList.entries(text)
        },
        Setting(
            "pool.maxConcurrentSessionsPerServer",
            "0 … 6",
            default: "3",
            "HTTP streaming sessions of this process with one server, as in the class reference."
        ) { all, _, text throws(SettingError) in
            let ceiling = ConnectionOptions.maxConcurrentSessionsPerServerCeiling
            all.pool.sessionLimit.maxConcurrentSessionsPerServer = try SettingValue.integer(text, 0...ceiling)
        },
        Setting(
            "pool.maxConcurrentSessionsPerServerExceededPolicy",
            "NONE, USE-POLLING, BLOCK",
            default: "NONE",
            "What a client does that would be one too many: nothing, polling, or not connect."
        ) { all, _, text throws(SettingError) in
            all.pool.sessionLimit.policy = try SettingValue.choice(text)
        },
    ]

    private static let operation: [Setting] = [
        Setting(
            "readiness",
            "serving, connected",
            default: "serving",
            "Whether /health/ready also asks for connected upstreams."
        ) { all, _, text throws(SettingError) in
            all.readiness = try SettingValue.choice(text)
        },
        Setting(
            "log.level",
            "trace, debug, info, notice, warning, error, critical",
            default: "info",
            "The least level that is logged, on standard error."
        ) { all, _, text throws(SettingError) in
            all.log.level = try SettingValue.choice(text)
        },
        Setting("log.format", "text, json", default: "text", "The shape of a log line.") {
            all,
            _,
            text throws(SettingError) in
            all.log.format = try SettingValue.choice(text)
        },
        Setting("shutdown.grace", "seconds", default: "10", "How long a stop may take.") {
            all,
            _,
            text throws(SettingError) in
            all.shutdownGrace = try SettingValue.duration(text)
        },
    ]
}

extension AddressAllowList {
    /// The entries of a list of `HOST:PORT`.
    static func entries(_ text: String) throws(SettingError) -> [Entry] {
        var entries: [Entry] = []
        for pattern in SettingValue.list(text) {
            guard let entry = entry(pattern) else {
                throw SettingError(rule: "\"\(pattern)\" must be HOST:PORT, with * for any host or any port")
            }
            entries.append(entry)
        }
        return entries
    }
}
