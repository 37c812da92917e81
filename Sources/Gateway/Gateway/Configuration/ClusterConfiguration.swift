package struct ClusterConfiguration: Sendable, Equatable {
    /// The engine that orders and stores the events of all members.
    package enum Engine: String, Sendable, CaseIterable {
        /// None: the gateway runs alone.
        case none
        /// NATS with JetStream.
        case nats
    }

    /// The behavior of a member while the engine is away.
    package enum EngineLoss: String, Sendable, CaseIterable {
        /// Streams stay open and silent until the engine returns.
        case hold
        /// The member subscribes for its own readers after `patience`, until the engine returns.
        case local
    }

    package var engine = Engine.none
    /// The connection to the engine, and the limits of its log.
    package var connection = EngineConfiguration()
    /// The secret that all members share: ids of shared subscriptions are derived from it. Never shown.
    package var secret: String?
    /// The number of members over which the sessions of one upstream may be spread. Default 4.
    package var owners = 4
    /// The limit of bytes that wait for the engine. Default 64 MiB.
    package var outboxBytes = 64 << 20
    /// The time without heartbeats after which a member is replaced. Default 1.5 s.
    package var suspect = Duration.milliseconds(1500)
    /// The behavior of this member while the engine is away. Default `hold`.
    package var onEngineLoss = EngineLoss.hold
    /// How long the engine must be away before this member serves its own readers alone. Default 5 s.
    package var patience = Duration.seconds(5)
    /// How long a stream waits for its subscriptions before it is closed. Default 2 s.
    package var openWait = Duration.seconds(2)

    /// The conflicts between settings: keys, each with the rule that its value violates.
    var mistakes: [(key: String, rule: String)] {
        guard engine != .none else { return [] }
        var mistakes: [(key: String, rule: String)] = []
        if (secret?.utf8.count ?? 0) < Self.leastSecret {
            let rule =
                secret == nil ? "is required with cluster.engine" : "must have \(Self.leastSecret) or more characters"
            mistakes.append(("cluster.secret", rule))
        }
        if connection.certificateFile != nil, connection.keyFile == nil {
            mistakes.append(("cluster.tls.key", "is required where cluster.tls.certificate is set"))
        }
        if connection.keyFile != nil, connection.certificateFile == nil {
            mistakes.append(("cluster.tls.certificate", "is required where cluster.tls.key is set"))
        }
        // Other members must have taken over the resources of this member before it subscribes for itself.
        if onEngineLoss == .local, patience <= suspect {
            mistakes.append(("cluster.patience", "must be greater than cluster.suspect"))
        }
        return mistakes
    }

    /// The files that the engine's library reads, with their keys; none without an engine.
    var files: [(key: String, path: String)] {
        guard engine != .none else { return [] }
        let files = [
            ("cluster.credentialsFile", connection.credentialsFile),
            ("cluster.tls.authorities", connection.authoritiesFile),
            ("cluster.tls.certificate", connection.certificateFile), ("cluster.tls.key", connection.keyFile),
        ]
        return files.compactMap { key, path in path.map { (key, $0) } }
    }

    private static let leastSecret = 16
}

/// The connection to the engine of a cluster, and the limits of its log.
package struct EngineConfiguration: Sendable, Equatable {
    /// Addresses of the servers: `nats://` or `tls://`, host and port.
    package var servers = ["nats://127.0.0.1:4222"]
    /// The cluster's name, the prefix of the names of its log and subjects. Letters, digits, `-` and `_`.
    package var name = "gateway"
    /// A file with a user's JWT and seed, as `nsc` writes it; nil: none.
    package var credentialsFile: String?
    /// The user's name; nil: none.
    package var user: String?
    /// The user's password; nil: none.
    package var password: String?
    /// A PEM file with the authorities that are trusted; nil: those of the system.
    package var authoritiesFile: String?
    /// A PEM file with the certificate of this client; nil: none.
    package var certificateFile: String?
    /// A PEM file with the key of that certificate; nil: none.
    package var keyFile: String?
    /// How long frames are kept. Default 60 s.
    package var window = Duration.seconds(60)
    /// How many bytes of frames are kept. Default 1 GiB.
    package var windowBytes = 1 << 30
    /// The number of servers of the engine that store the log. Default 1.
    package var copies = 1
}
