internal import Changes
internal import Cryptography
internal import EngineNATS
internal import Gateway
internal import MicroHTTPD
internal import Replication

extension ClusterConfiguration {
    /// How long a request waits for a member without heartbeats to be replaced.
    var replacementTime: Duration { suspect + Self.takeoverTime }

    /// How long other members may take to take over what a removed member had.
    private static let takeoverTime = Duration.seconds(2)

    /// The timings of a member; subscriptions linger for the same time as in a gateway without a cluster.
    func timings(linger: Duration) -> ClusterTimings {
        var timings = ClusterTimings()
        timings.suspect = suspect
        timings.reporting = suspect
        timings.linger = linger
        timings.window = connection.window
        return timings
    }
}

extension NATSConfiguration {
    init(_ configuration: EngineConfiguration) {
        self.init(servers: configuration.servers, name: configuration.name)
        (user, password) = (configuration.user, configuration.password)
        credentialsFile = configuration.credentialsFile
        authoritiesFile = configuration.authoritiesFile
        certificateFile = configuration.certificateFile
        keyFile = configuration.keyFile
        (window, windowBytes, copies) = (configuration.window, configuration.windowBytes, configuration.copies)
        // The state of the cluster, which a joining member receives, has the values of all shared subscriptions.
        replyBytes = MachineMemory.available / 2
    }
}

extension ClusterNode {
    /// The id of a shared subscription: the same on every member, and unpredictable without the cluster's secret.
    func id(of topic: SharedTopicKey) -> String {
        let code = SHA256.code(of: topic.bytes, key: Array((configuration.secret ?? "").utf8))
        return "s" + String(decoding: code.prefix(16).map { RandomID.character(of: UInt64($0)) }, as: UTF8.self)
    }
}
