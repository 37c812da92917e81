internal import MicroHTTPD

package enum Settings {
    /// All settings, in the order of the documentation. The reader applies them in this order.
    package static let all: [Setting] = http + tls + streams + pool + upstreams + feeds + access + cluster + operation

    private static let http: [Setting] = {
        let http = SettingGroup("http.", \.http, effect: .restart)
        return [
            http.setting("host", .text("an address or name")) {
                $0.host
            } apply: { http, text throws(SettingError) in
                // An IPv6 address may be in brackets, as in a URL.
                http.host = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
                if http.host.isEmpty { throw SettingError(rule: "must be an address or name") }
            }
            .means("The address to listen on."),
            http.integer("port", \.port, 0...65_535).means("The port to listen on; 0: a free one."),
            http.integer("threads", \.shards, 0...64)
                .means(
                    "Threads that serve connections and write streams; 0: one for each processor of the machine or container."
                ),
            http.integer("maxConnections", \.connectionLimit, 1...1_000_000).means("Connections at a time."),
            http.integer("maxConnectionsPerAddress", \.connectionLimitPerAddress, 0...1_000_000)
                .means(
                    "Connections at a time from one address, or one IPv6 network of 64 bits; 0: no limit. "
                        + "Trusted proxies, and loopback unless limits.loopback, are not limited."
                ),
            http.integer("maxBody", \.bodyLimit, 1...1 << 30, unit: "bytes").means("The longest request body."),
            http.integer("maxBodies", \.bodyBudget, 1...1 << 40, unit: "bytes")
                .means("The request bodies in memory at a time, of all requests together."),
            http.integer("maxResponses", \.responseBudget, 0...1 << 40, unit: "bytes")
                .means(
                    "The unread responses of 4 KiB and more in memory at a time; beyond it the oldest of the caller with "
                        + "the most of them are cut off. 0: an eighth of the memory of the machine or container."
                ),
            http.integer("maxHeaders", \.headerLimit, 1_024...1 << 20, unit: "bytes")
                .means("The longest header section."),
            http.integer("maxRequestLine", \.targetLimit, 256...1 << 20, unit: "bytes")
                .means("The longest request target."),
            http.seconds("idleTimeout", \.idleTimeout)
                .means("The longest silence of a connection before the gateway closes it; streams excepted."),
            http.seconds("requestTimeout", \.requestTimeout)
                .means("The longest time that a request may take to arrive."),
            http.seconds("responseTimeout", \.responseTimeout)
                .means(
                    "The longest time that a client may take for a response; a second is added for every 64 KiB of it."
                ),
        ]
    }()

    private static let tls: [Setting] = {
        let tls = SettingGroup("http.tls.", \.http.presentCertificate)
        return [
            tls.secret("certificate", "PEM", \.chain).means("The certificate, with its intermediate ones."),
            tls.secret("key", "PEM", \.key).means("The certificate's private key, not encrypted."),
        ]
    }()

    private static let streams: [Setting] = {
        let open = SettingGroup("streams.", \.self)
        let hub = SettingGroup("streams.", \.hub, effect: .restart)
        let writer = SettingGroup("streams.", \.http, effect: .restart)
        return [
            open.integer("max", \.maxStreams, 1...1_000_000).means("Streams at a time."),
            open.integer(
                "maxPreparedPerCaller",
                \.maxPreparedPerCaller,
                1...1_000_000,
                default: "a quarter of streams.max"
            )
            .means("Streams of one key, or of one subject of tokens, that are prepared and not open."),
            open.choice("compression", \.compression)
                .means("Whether streams of one subscription are compressed for clients that accept gzip."),
            hub.seconds("heartbeat", \.heartbeatInterval).means("The interval of heartbeats on a silent stream."),
            hub.seconds("retry", \.retryDelay).means("The reconnection time that streams advise, before jitter."),
            hub.integer("replayBytes", \.replayBytes, 0...1 << 34, unit: "bytes")
                .means("The replay window of a source, for streams that resume."),
            hub.integer("replayEvents", \.replayEvents, 0...100_000_000)
                .means("The most events in the replay window of a source."),
            hub.integer("memory", \.memoryBytes, 0...1 << 40, unit: "bytes")
                .means(
                    "The memory of replay windows, unread events and sources of all streams; beyond it the oldest windows are "
                        + "dropped, then the slowest readers are closed. Sources have half of it at most. 0: a quarter of the "
                        + "memory of the machine or container."
                ),
            hub.integer("memoryPerCaller", \.ownerMemoryBytes, 0...1 << 40, unit: "bytes")
                .means(
                    "The memory of the unread events of the streams of one caller; beyond it the slowest of them are closed. "
                        + "The sources of the streams have as much at most. 0: a quarter of streams.memory."
                ),
            hub.integer("window", \.windowBytes, 65_536...1 << 34, unit: "bytes")
                .means(
                    "The most unread bytes of a stream that does not conflate; the gateway closes a stream with more."
                ),
            hub.integer("windowEvents", \.windowEvents, 1...10_000_000)
                .means(
                    "The most unread DISTINCT and RAW events of a conflating stream; with more, the oldest are lost."
                ),
            writer.seconds("blockedTimeout", \.blockedStreamTimeout)
                .means(
                    "The longest time without a byte accepted by a stream's client before the gateway cuts the stream off."
                ),
            writer.seconds("flushInterval", \.flushInterval, zeroAllowed: true)
                .means(
                    "The least time between two writing passes: more delay for less processor time. "
                        + "0: none while the gateway keeps up; in a flood of events up to 50 ms."
                ),
        ]
    }()

    private static let operation: [Setting] = {
        let gateway = SettingGroup("", \.self)
        let values = SettingGroup("values.", \.values)
        let log = SettingGroup("log.", \.log, effect: .restart)
        return [
            gateway.choice("readiness", \.readiness)
                .means(
                    "Whether /health/ready also requires that one of the pooled sessions, if there are any, is connected."
                ),
            values.integer("cacheMaxAge", \.maxAge, 0...3_600, unit: "seconds")
                .means("How long shared caches may keep values that callers read without credentials; 0: not at all."),
            values.integer("cacheStale", \.staleWhileRevalidate, 0...3_600, unit: "seconds")
                .means("How much longer caches may serve such values while they fetch newer ones."),
            gateway.seconds("stallTimeout", \.stallTimeout, zeroAllowed: true)
                .means(
                    "How long a thread, or the task of a client, may take to come round before /health/live fails; 0: any time."
                ),
            log.choice("level", \.level).means("The least severe level that is logged, on standard error."),
            log.choice("format", \.format).means("The format of a log line."),
            log.flag("access", \.logsRequests)
                .means("Whether each request is logged, at level info; else at level debug."),
            gateway.seconds("shutdown.grace", \.shutdownGrace).means("The longest time that a stop may take."),
        ]
    }()
}

extension Settings {
    /// The documentation of all settings, as a Markdown table.
    package static var table: String {
        var lines = ["| key | environment | values | default | change | meaning |", "|---|---|---|---|---|---|"]
        for setting in all {
            let variable = ConfigurationReader.variable(for: setting.key.replacing("*", with: "NAME"))
            let secret = setting.isSecret ? " Or `\(setting.key)File`, `\(variable)_FILE`: a file that holds it." : ""
            lines.append(
                "| `\(setting.key)` | `\(variable)` | \(setting.type.description) | \(setting.defaultValue) "
                    + "| \(setting.effect.rawValue) | \(setting.meaning)\(secret) |"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// The settings of a cluster of several gateways.
extension Settings {
    static let cluster: [Setting] = engine + log

    private static let engine: [Setting] = {
        let member = SettingGroup("cluster.", \.cluster, effect: .restart)
        let engine = SettingGroup("cluster.", \.cluster.connection, effect: .restart)
        return [
            member.choice("engine", \.engine)
                .means(
                    "The engine that orders and keeps the events of several gateways; none: the gateway runs alone."
                ),
            engine.setting("url", .list(of: "nats:// or tls:// addresses")) {
                $0.servers.joined(separator: ", ")
            } apply: { engine, text throws(SettingError) in
                let servers = try SettingValue.elements(text, "a nats:// or tls:// address") { server in
                    let isAddress = server.hasPrefix("nats://") || server.hasPrefix("tls://")
                    return isAddress && !server.contains(",") ? server : nil
                }
                if servers.isEmpty { throw SettingError(rule: "must be a list of nats:// or tls:// addresses") }
                engine.servers = servers
            }
            .means("The servers of the engine."),
            engine.setting("name", .text("letters, digits, - and _")) {
                $0.name
            } apply: { engine, text throws(SettingError) in
                guard SettingValue.isName(text) else { throw SettingError(rule: "must have \(SettingValue.nameRule)") }
                engine.name = text
            }
            .means("The name of the cluster on its engine."),
            member.secret("secret", "16 or more characters", \.secret)
                .means("The secret that all members share; ids of shared subscriptions are derived from it."),
            engine.text("user", "a name", \.user).means("The user of the engine."),
            engine.secret("password", "text", \.password).means("The password of that user."),
            engine.text("credentialsFile", "a path", \.credentialsFile)
                .means("A file with a JWT and seed for the engine."),
            engine.text("tls.authorities", "a path", \.authoritiesFile).means("PEM file of the trusted authorities."),
            engine.text("tls.certificate", "a path", \.certificateFile).means("PEM file of the client certificate."),
            engine.text("tls.key", "a path", \.keyFile).means("PEM file of the client certificate's private key."),
        ]
    }()

    private static let log: [Setting] = {
        let member = SettingGroup("cluster.", \.cluster, effect: .restart)
        let engine = SettingGroup("cluster.", \.cluster.connection, effect: .restart)
        return [
            engine.integer("copies", \.copies, 1...5)
                .means("The number of engine servers that keep the log; set when it is made."),
            engine.seconds("window", \.window).means("How long the log keeps events for members that missed them."),
            engine.integer("windowBytes", \.windowBytes, 1 << 20...1 << 40, unit: "bytes")
                .means("The largest size of the log."),
            member.integer("outbox", \.outboxBytes, 1 << 20...1 << 34, unit: "bytes")
                .means(
                    "The most bytes that wait for the engine; with more, the subscriptions of the member begin anew."
                ),
            member.seconds("suspect", \.suspect).means("The time without heartbeats after which a member is replaced."),
            member.choice("onEngineLoss", \.onEngineLoss)
                .means(
                    "What streams get while the engine is away: nothing (hold), or the subscriptions of this gateway alone (local)."
                ),
            member.seconds("patience", \.patience)
                .means("How long the engine is away before this gateway serves alone."),
            member.integer("owners", \.owners, 1...64)
                .means("The number of groups, each held by one member, of an upstream's subscriptions."),
        ]
    }()
}

extension DaemonConfiguration {
    /// The certificate of the server, empty until one of its two settings is read.
    fileprivate var presentCertificate: Certificate {
        get { certificate ?? Certificate(chain: "", key: "") }
        set { certificate = newValue }
    }
}
