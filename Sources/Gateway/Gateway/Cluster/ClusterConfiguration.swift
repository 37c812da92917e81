internal import Crypto
package import EngineNATS
internal import Replication
internal import SessionPool

/// The cluster that a gateway belongs to.
package struct ClusterConfiguration: Sendable, Equatable {
    /// The engine that orders and stores the events of all members.
    package enum Engine: String, Sendable, CaseIterable {
        /// None: the gateway runs alone.
        case none
        /// NATS with JetStream.
        case nats
    }

    /// What a member does while the engine is away.
    package enum EngineLoss: String, Sendable, CaseIterable {
        /// Streams stay open and silent until the engine returns.
        case hold
        /// The member subscribes for its own readers after `patience`, until the engine returns.
        case local
    }

    /// The engine. Default none.
    package var engine = Engine.none
    /// The connection to the engine, and the limits of its log.
    package var nats = NATSConfiguration(servers: ["nats://127.0.0.1:4222"], name: "gateway")
    /// The secret that all members share: ids of shared subscriptions are derived from it. Never shown.
    package var secret: String?
    /// The number of members over which the sessions of one upstream may be spread. Default 4.
    package var owners = 4
    /// The limit of bytes that wait for the engine. Default 64 MiB.
    package var outboxBytes = 64 << 20
    /// The time without heartbeats after which a member is replaced. Default 1.5 s.
    package var suspect = Duration.milliseconds(1500)
    /// What this member does while the engine is away. Default `hold`.
    package var onEngineLoss = EngineLoss.hold
    /// How long the engine must be away before this member serves its own readers alone. Default 5 s.
    package var patience = Duration.seconds(5)
    /// How long a stream waits for its subscriptions before it is closed. Default 2 s.
    package var openWait = Duration.seconds(2)

    /// A gateway that runs alone.
    package init() {}

    /// The conflict between settings: a key and the rule that it violates.
    var mistakes: [(key: String, rule: String)] {
        guard engine != .none else { return [] }
        let length = secret?.utf8.count ?? 0
        guard length >= Self.leastSecret else {
            let rule =
                secret == nil ? "is required with cluster.engine" : "must have \(Self.leastSecret) or more characters"
            return [("cluster.secret", rule)]
        }
        // Other members must have taken over what this one owned before it subscribes for itself.
        guard onEngineLoss == .hold || patience > suspect else {
            return [("cluster.patience", "must be greater than cluster.suspect")]
        }
        return []
    }

    private static let leastSecret = 16

    /// How long a request waits for a member without heartbeats to be replaced.
    var replacementTime: Duration { suspect + Self.takeoverTime }

    /// How long other members may take to take over what a removed member had.
    private static let takeoverTime = Duration.seconds(2)

    /// The timings of a member; subscriptions linger for the same time as in a gateway without a cluster.
    func timings(linger: Duration) -> ClusterTimings {
        var timings = ClusterTimings()
        timings.suspect = suspect
        timings.linger = linger
        timings.window = nats.window
        return timings
    }
}

/// The id of a shared subscription: the same on every member, and unpredictable without the cluster's secret.
struct SharedTopicIDs: Sendable {
    private static let length = 16
    private let key: SymmetricKey

    init(secret: String) { key = SymmetricKey(data: Array(secret.utf8)) }

    func id(of topic: SharedTopicKey) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: topic.bytes, using: key)
        let characters = code.prefix(Self.length).map { RandomID.character(of: UInt64($0)) }
        return "s" + String(decoding: characters, as: UTF8.self)
    }
}
