/// The settings of a cluster of several gateways.
extension Settings {
    static let cluster: [Setting] = engine + log

    private static let engine: [Setting] = {
        let member = SettingGroup("cluster.", \.cluster, effect: .restart)
        let engine = SettingGroup("cluster.", \.cluster.connection, effect: .restart)
        return [
            member.choice(
                "engine",
                \.engine,
                "The engine that orders and keeps the events of several gateways; none: the gateway runs alone."
            ),
            engine.setting("url", .list(of: "nats:// or tls:// addresses"), "The servers of the engine.") {
                $0.servers.joined(separator: ", ")
            } apply: { engine, text throws(SettingError) in
                let servers = try SettingValue.elements(text, "a nats:// or tls:// address") { server in
                    let isAddress = server.hasPrefix("nats://") || server.hasPrefix("tls://")
                    return isAddress && !server.contains(",") ? server : nil
                }
                if servers.isEmpty { throw SettingError(rule: "must be a list of nats:// or tls:// addresses") }
                engine.servers = servers
            },
            engine.setting("name", .text("letters, digits, - and _"), "The name of the cluster on its engine.") {
                $0.name
            } apply: { engine, text throws(SettingError) in
                guard SettingValue.isName(text) else {
                    throw SettingError(rule: "must have \(SettingValue.nameRule)")
                }
                engine.name = text
            },
            member.secret(
                "secret",
                "16 or more characters",
                \.secret,
                "The secret that all members share; ids of shared subscriptions are derived from it."
            ),
            engine.text("user", "a name", \.user, "The user of the engine."),
            engine.secret("password", "text", \.password, "The password of that user."),
            engine.text("credentialsFile", "a path", \.credentialsFile, "A file with a JWT and seed for the engine."),
            engine.text("tls.authorities", "a path", \.authoritiesFile, "PEM file of the trusted authorities."),
            engine.text("tls.certificate", "a path", \.certificateFile, "PEM file of the client certificate."),
            engine.text("tls.key", "a path", \.keyFile, "PEM file of the client certificate's private key."),
        ]
    }()

    private static let log: [Setting] = {
        let member = SettingGroup("cluster.", \.cluster, effect: .restart)
        let engine = SettingGroup("cluster.", \.cluster.connection, effect: .restart)
        return [
            engine.integer(
                "copies",
                \.copies,
                1...5,
                "The number of engine servers that keep the log; set when it is made."
            ),
            engine.seconds("window", \.window, "How long the log keeps events for members that missed them."),
            engine.integer(
                "windowBytes",
                \.windowBytes,
                1 << 20...1 << 40,
                unit: "bytes",
                "The largest size of the log."
            ),
            member.integer(
                "outbox",
                \.outboxBytes,
                1 << 20...1 << 34,
                unit: "bytes",
                "The most bytes that wait for the engine; with more, the subscriptions of the member begin anew."
            ),
            member.seconds("suspect", \.suspect, "The time without heartbeats after which a member is replaced."),
            member.choice(
                "onEngineLoss",
                \.onEngineLoss,
                "What streams get while the engine is away: nothing (hold), or the subscriptions of this gateway alone (local)."
            ),
            member.seconds("patience", \.patience, "How long the engine is away before this gateway serves alone."),
            member.integer(
                "owners",
                \.owners,
                1...64,
                "The number of groups, each held by one member, of an upstream's subscriptions."
            ),
        ]
    }()
}
