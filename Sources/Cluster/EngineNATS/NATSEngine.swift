internal import Dispatch
internal import JSONText
package import Replication

/// NATS with JetStream as the engine of a cluster.
package struct NATSEngine: ClusterEngine {
    private let configuration: NATSConfiguration
    private let process: UInt64

    /// An engine that is not connected.
    ///
    /// - Parameter process: The number that identifies this process to other members (see `EngineConnection.call`).
    package init(configuration: NATSConfiguration, process: UInt64) {
        self.configuration = configuration
        self.process = process
    }

    package func connect(_ receive: @escaping @Sendable (EngineInput) -> Void) async throws -> any EngineConnection {
        let connection = NATSConnection(configuration: configuration, process: process, receive: receive)
        // The library blocks the calling thread.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async { continuation.resume(with: Result { try connection.open() }) }
        }
        do {
            try await connection.makeLog()
        } catch {
            connection.close()
            throw error
        }
        return connection
    }
}

extension NATSConnection {
    private static let notFound: UInt64 = 404
    /// The longest time since a leader has heard a server that follows no other leader, in nanoseconds: servers elect another
    /// one after 4 s.
    private static let longestSilence: UInt64 = 3_000_000_000

    /// Creates the log; if it exists, its limits become those of the configuration.
    func makeLog() async throws {
        do {
            let present = try await api("STREAM.INFO", "")["config"]?.object
            guard configuration.changesLog, let update = present.flatMap({ configuration.update(of: $0) }) else {
                return
            }
            // Once, because there is no reply without the permission. `warnings` tells if the server has not done it.
            let subject = "$JS.API.STREAM.UPDATE.\(configuration.stream)"
            _ = try? await reply(to: subject, update)
        } catch EngineError.missing {
            _ = try await api("STREAM.CREATE", configuration.streamJSON)
        }
    }

    package func inspectLog() async throws -> LogGeneration {
        let info = try await api("STREAM.INFO", "", ofLeader: true)
        guard let created = info["created"]?.string, let state = info["state"]?.object,
            let last = state["last_seq"]?.unsigned, let first = state["first_seq"]?.unsigned
        else { throw EngineError.refused("stream info without state") }
        return LogGeneration(created: created, first: first, last: last)
    }

    /// Whether the server that describes the log leads the log, and has heard so many servers recently that no other server does.
    static func isLed(_ log: JSONObject) -> Bool {
        guard let cluster = log["cluster"], let others = cluster["replicas"]?.array else { return true }
        if cluster["leader"]?.string == nil { return false }
        let followers = others.count { ($0["active"]?.unsigned ?? 0) < longestSilence }
        return 2 * (followers + 1) > others.count + 1
    }

    /// The reason in the server's reply why a frame is not stored; nil if the frame is stored. Only forged replies are longer.
    static func failure(in reply: [UInt8], status: String?) -> String? {
        if status == "503" { return "no stream takes the subject, or its servers have no leader" }
        guard reply.count <= 4096 else { return nil }
        return (try? JSONValue(parsing: reply))?.object?["error"]?.object?["description"]?.string
    }

    /// A call of JetStream's API about the log's stream. Throws `missing` if there is no such stream. A call without a
    /// reply in time is made again, five times in all, and may be handled twice.
    ///
    /// - Parameter ofLeader: Whether the reply has to come from a server that leads the log. Any server describes what it has of the
    ///   log while there is no leader, and a former leader does so for a second after the servers have met again. Frames that
    ///   members have read may be missing there.
    func api(_ operation: String, _ body: String, ofLeader: Bool = false) async throws -> JSONObject {
        let subject = "$JS.API.\(operation).\(configuration.stream)"
        for _ in 1...5 {
            let reply: [UInt8]
            do {
                reply = try await self.reply(to: subject, body)
            } catch EngineError.timeout {
                continue
            } catch EngineError.noResponder {
                throw EngineError.refused("JetStream is not enabled. Start NATS with -js.")
            }
            guard case .object(let object)? = try? JSONValue(parsing: reply) else {
                throw EngineError.refused("\(operation): no JSON")
            }
            if let error = object["error"]?.object {
                if error["code"]?.unsigned == Self.notFound { throw EngineError.missing }
                throw EngineError.refused("\(operation): \(Self.cause(of: error))")
            }
            if !ofLeader || Self.isLed(object) { return object }
            try await Task.sleep(for: configuration.replyTime)
        }
        throw EngineError.timeout
    }

    /// The reply of a server, if it arrives in time.
    func reply(to subject: String, _ body: String) async throws -> [UInt8] {
        try await request(subject, [Array(body.utf8)], collecting: .messages(1), within: configuration.replyTime)[0]
            .bytes
    }

    /// The description of an error of JetStream's API, and the setting to change where servers have no room for the log.
    static func cause(of error: JSONObject) -> String {
        let text = error["description"]?.string ?? "unknown error"
        switch error["err_code"]?.unsigned {
        case 10002, 10047: return "\(text). \(space)"
        // No servers for the log, because of their number or their space.
        case 10005 where text.contains("storage"): return "\(text). \(space)"
        case 10005, 10074: return "\(text). cluster.copies must be at most the number of servers in the NATS cluster."
        default: return text
        }
    }

    private static let space = "Lower cluster.windowBytes, which NATS reserves for the log, or give NATS more space."
}

extension JSONValue { fileprivate var unsigned: UInt64? { number.flatMap { UInt64($0.text) } } }
