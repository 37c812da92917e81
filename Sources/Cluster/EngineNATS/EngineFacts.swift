internal import JSONText

/// The facts of an engine on which the safety of its log depends.
struct EngineFacts: Sendable, Equatable {
    /// The version of the server; nil: it does not tell, as servers before 2.10 and accounts with few permissions.
    var version: String?
    var isInFiles = false
    /// Whether the server is one of several.
    var isClustered = false
    /// Whether the log is republished to members, as a stream that a gateway has created.
    var isRepublished = false
    /// Whether the log has other limits than the configuration, or is not read by position.
    var hasOtherLimits = false
    /// The number of servers that store the log.
    var copies = 1
    /// The greatest message that the server accepts, in bytes; nil: unknown.
    var messageLimit: Int64?

    /// The greatest message that members send, in bytes, which is the limit of a server by default.
    private static let greatestMessage: Int64 = 1 << 20
    /// The first version that keeps the log when its process is killed.
    private static let safeVersion = "2.10.23"

    /// The facts by the server's reply about its user, if there was one, and by its description of the log.
    init(user: JSONObject?, log: JSONObject) {
        version = user?["server"]?["ver"]?.string
        isInFiles = log["config"]?["storage"]?.string == "file"
        isRepublished = log["config"]?["republish"]?.object != nil
        // A newer server that runs alone describes a cluster too, but without a name.
        isClustered = log["cluster"]?["name"]?.string != nil
        copies = log["config"]?["num_replicas"]?.number?.intValue ?? 1
    }

    /// The risks, as sentences for operators.
    var warnings: [String] {
        var warnings: [String] = []
        if let version {
            if Self.numbers(version).lexicographicallyPrecedes(Self.numbers(Self.safeVersion)) {
                warnings.append(
                    "NATS \(version) may lose the log when its process is killed: use \(Self.safeVersion) or later"
                )
            }
        } else {
            warnings.append("NATS does not tell its version, as before 2.10: use \(Self.safeVersion) or later")
        }
        if !isRepublished {
            warnings.append(
                "the stream of the log has no republish, so that no gateway gets ready: delete it while no gateway is running, "
                    + "and a gateway creates it"
            )
        }
        if hasOtherLimits {
            warnings.append(
                "the stream of the log has other limits than cluster.window and cluster.windowBytes, or no allow_direct, without "
                    + "which no gateway gets ready. Every gateway sets them when it connects unless NATS refuses: edit the "
                    + "stream, or permit the user to update it"
            )
        }
        if let messageLimit, messageLimit < Self.greatestMessage {
            warnings.append(
                "NATS accepts messages of at most \(messageLimit) bytes, and larger ones are lost: set its max_payload to 1MB"
            )
        }
        if isClustered, copies == 1 {
            warnings.append("one of several NATS servers has the only copy of the log: set cluster.copies to 3")
        }
        if isInFiles, copies == 1 {
            warnings.append(
                "NATS writes the only copy of the log to disk every two minutes unless its sync_interval is set: a power "
                    + "failure loses more than with sync_interval: always"
            )
        }
        return warnings
    }

    private static func numbers(_ version: String) -> [Int] {
        version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").compactMap { Int($0) }
    }
}

extension NATSConnection {
    package func warnings() async -> [String] {
        guard let log = try? await api("STREAM.INFO", "") else { return [] }
        let reply = try? await reply(to: "$SYS.REQ.USER.INFO", "")
        let user = reply.flatMap { try? JSONValue(parsing: $0) }
        var facts = EngineFacts(user: user?.object, log: log)
        facts.messageLimit = messageLimit
        facts.hasOtherLimits = (log["config"]?.object).flatMap { configuration.update(of: $0) } != nil
        return facts.warnings
    }
}
