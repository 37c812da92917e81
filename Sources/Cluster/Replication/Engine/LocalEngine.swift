internal import Synchronization

/// The engine of a member that serves its own readers while the engine of the cluster is away: each connection has an
/// empty log of its own, which no other process sees.
package struct LocalEngine: ClusterEngine {
    package init() {}

    package func connect(_ receive: @escaping @Sendable (EngineInput) -> Void) async throws -> any EngineConnection {
        LocalLog(receive)
    }
}

/// A log with one reader, its writer: a frame is received as soon as it is appended, so nothing is kept.
private final class LocalLog: EngineConnection {
    private let receive: @Sendable (EngineInput) -> Void
    /// The position of the last frame.
    private let last = Atomic<UInt64>(0)
    private let isClosed = Atomic(false)
    private let created = "local-\(UInt64.random(in: .min ... .max))"

    init(_ receive: @escaping @Sendable (EngineInput) -> Void) { self.receive = receive }

    func inspectLog() async throws -> LogGeneration {
        if isClosed.load(ordering: .relaxed) { throw EngineError.notConnected("closed") }
        let last = last.load(ordering: .relaxed)
        return LogGeneration(created: created, first: last + 1, last: last)
    }

    /// Called by one task, so that frames are received in order.
    func append(_ frame: [UInt8], again _: Bool) {
        if isClosed.load(ordering: .relaxed) { return }
        let position = last.wrappingAdd(1, ordering: .relaxed).newValue
        receive(.frame(StoredFrame(position: position, bytes: frame)))
    }

    func broadcast(_ bytes: [UInt8]) { if !isClosed.load(ordering: .relaxed) { receive(.broadcast(bytes)) } }

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

    func close() { if !isClosed.exchange(true, ordering: .relaxed) { receive(.closed) } }
}
