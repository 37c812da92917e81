internal import Synchronization

/// The engine of a member that serves its own readers while the engine of the cluster is away: each connection has an
/// empty log of its own, which no other process sees.
package struct LocalEngine: ClusterEngine {
    /// An engine without a log.
    package init() {}

    package func connect(_ receive: @escaping @Sendable (EngineInput) -> Void) async throws -> any EngineConnection {
        LocalLog(receive)
    }
}

/// A log with one reader, its writer: a frame is received as soon as it is appended, so nothing is kept.
private final class LocalLog: EngineConnection {
    private let receive: @Sendable (EngineInput) -> Void
    /// The position of the last frame; nil once the log is closed.
    private let last = Mutex<UInt64?>(0)
    private let created = "local-\(UInt64.random(in: .min ... .max))"

    init(_ receive: @escaping @Sendable (EngineInput) -> Void) { self.receive = receive }

    func inspectLog() async throws -> LogGeneration {
        guard let last = last.withLock({ $0 }) else { throw EngineError.notConnected("closed") }
        return LogGeneration(created: created, first: last + 1, last: last)
    }

    func append(_ frame: [UInt8]) {
        last.withLock { last in
            guard let position = last else { return }
            last = position + 1
            // Inside the lock, so that frames are received in order.
            receive(.frame(StoredFrame(position: position + 1, bytes: frame)))
        }
    }

    func broadcast(_ bytes: [UInt8]) {
        if last.withLock({ $0 != nil }) { receive(.broadcast(bytes)) }
    }

    func fetch(_: ClosedRange<UInt64>) async throws -> [StoredFrame] { throw EngineError.missing }

    func requestFromGroup(_: [UInt8], within _: Duration) async throws -> [UInt8] { throw EngineError.noResponder }

    func call(
        _: UInt64,
        _: [UInt8],
        within _: Duration,
        sent _: @escaping @Sendable () -> Void
    ) async throws -> [UInt8] {
        throw EngineError.noResponder
    }

    func notify(_: UInt64, _: [UInt8]) {}

    func reply(_: [UInt8], to _: String) {}

    func close() {
        let wasOpen = last.withLock { $0.take() != nil }
        if wasOpen { receive(.closed) }
    }
}
