internal import Logging
internal import SessionCore
internal import SessionPool

/// Logs why an upstream is not connected, once for each change of the reason, and when it connects.
struct ConnectionLog: Sendable {
    let logger: Logger

    @Sendable func observe(_ client: PooledClient, _ report: ConnectionReport) {
        var metadata: Logger.Metadata = ["client": "\(client.id.rawValue)"]
        if let upstream = client.upstream { metadata["upstream"] = "\(upstream)" }
        switch report {
        case .failed(let trouble):
            metadata["reason"] = "\(trouble.kind.rawValue)"
            if let code = trouble.code { metadata["code"] = .stringConvertible(code) }
            logger.warning("\(TroubleText.sentence(trouble, of: client))", metadata: metadata)
        case .connected(let trouble):
            guard let trouble else { return logger.info("connected", metadata: metadata) }
            metadata["attempts"] = .stringConvertible(trouble.attempts)
            metadata["seconds"] = .stringConvertible((client.now - trouble.since).roundedSeconds)
            logger.info("connected again", metadata: metadata)
        }
    }
}
