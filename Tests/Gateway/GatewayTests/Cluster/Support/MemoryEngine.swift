import Replication
import Synchronization

/// An engine in memory: its log, and messages between the processes that are connected to it. Nothing is lost, and no
/// request times out.
final class MemoryEngine: Sendable {
    fileprivate struct State {
        var frames: [[UInt8]] = []
        var connections: [UInt64: MemoryConnection] = [:]
        var replies: [String: CheckedContinuation<[UInt8], any Error>] = [:]
        var nextAddress = 0
        /// The number of calls that were delivered or held, and those that are held.
        var calls = 0
        var heartbeats = 0
        var heldCalls: [@Sendable () -> Void]?
        /// The messages to each process that receives none at the moment.
        var heldInputs: [UInt64: [EngineInput]] = [:]
        /// How many frames of each process are still stored, and those that follow.
        var heldFrames: [UInt64: (stored: Int, rest: [[UInt8]])] = [:]
        /// The number of next frames that each process does not receive.
        var lostFrames: [UInt64: Int] = [:]
        /// The calls, requests and broadcasts that were sent to processes so far.
        var recorded: [(process: UInt64, input: EngineInput)] = []
        /// Why no frame is stored; nil: all are.
        var rejection: String?
        /// The processes that cannot connect.
        var absent: Set<UInt64> = []
        var watchers: [(isMet: @Sendable (borrowing Figures) -> Bool, done: CheckedContinuation<Void, Never>)] = []
    }

    /// What a test can wait for.
    struct Figures {
        /// The number of frames in the log.
        let frames: Int
        /// The number of calls between processes that were delivered or held so far.
        let calls: Int
        /// The number of heartbeats that were sent.
        let heartbeats: Int
        /// The processes that are connected.
        let processes: Set<UInt64>

        fileprivate init(_ state: borrowing State) {
            frames = state.frames.count
            calls = state.calls
            heartbeats = state.heartbeats
            processes = Set(state.connections.keys)
        }
    }

    private let state = Mutex(State())
    /// The name of the log.
    let name: String

    /// An engine with an empty log.
    init(name: String = "memory") { self.name = name }

    /// The present figures.
    var figures: Figures { state.withLock { Figures($0) } }

    /// Waits until a condition holds.
    func wait(until isMet: @escaping @Sendable (borrowing Figures) -> Bool) async {
        await withCheckedContinuation { continuation in
            change { $0.watchers.append((isMet, continuation)) }
        }
    }

    /// All bytes that the engine has seen.
    var traffic: [[UInt8]] {
        let (frames, recorded) = state.withLock { ($0.frames, $0.recorded) }
        return frames
            + recorded.compactMap { message in
                switch message.input {
                case .broadcast(let bytes), .groupRequest(let bytes, _), .call(let bytes, _): bytes
                case .frame, .refused, .notStored, .closed: nil
                }
            }
    }

    /// Delivers all calls between processes again.
    func repeatCalls() {
        let (recorded, connections) = state.withLock { ($0.recorded, $0.connections) }
        for case (let process, .call(let bytes, _)) in recorded {
            connections[process]?.receive(.call(bytes, reply: { _ in }))
        }
    }

    /// Delivers all heartbeats again.
    func repeatHeartbeats() {
        let (recorded, connections) = state.withLock { ($0.recorded, $0.connections) }
        for case (_, .broadcast(let bytes)) in recorded {
            for connection in connections.values { connection.receive(.broadcast(bytes)) }
        }
    }

    /// Delivers a frame of another client to all processes, as if the log had it.
    func forge(_ frame: StoredFrame) {
        for connection in state.withLock({ $0.connections }).values { connection.receive(.frame(frame)) }
    }

    /// Does not deliver calls between processes until `releaseCalls`.
    func holdCalls() { change { $0.heldCalls = [] } }

    /// Delivers the calls that were held, and all further ones.
    func releaseCalls() {
        let held = state.withLock { $0.heldCalls.take() } ?? []
        for deliver in held { deliver() }
    }

    /// Cuts the connections of processes, which cannot connect again until `restore`.
    func cut(_ processes: [UInt64]) {
        state.withLock { $0.absent.formUnion(processes) }
        for process in processes { disconnect(process) }
    }

    /// Refuses what a process has sent.
    func refuse(_ reason: String, to process: UInt64) {
        state.withLock { $0.connections[process] }?.receive(.refused(reason))
    }

    /// Stores no frames for a reason; nil: stores them again.
    func reject(_ reason: String?) { state.withLock { $0.rejection = reason } }

    /// The reason for which no frame is stored.
    fileprivate var rejection: String? { state.withLock { $0.rejection } }

    /// Admits connections of all processes.
    func restore() { state.withLock { $0.absent = [] } }

    /// Stores `count` more frames of a process, and holds the next ones until `storeFrames`.
    func storeFrames(_ count: Int, of process: UInt64) { state.withLock { $0.heldFrames[process] = (count, []) } }

    /// Stores all frames of a process.
    func storeFrames(of process: UInt64) {
        for frame in state.withLock({ $0.heldFrames.removeValue(forKey: process) })?.rest ?? [] { append(frame) }
    }

    /// Stores a frame of a process, unless the frame is held.
    fileprivate func append(_ frame: [UInt8], of process: UInt64) {
        let isHeld = state.withLock { state in
            guard let held = state.heldFrames[process] else { return false }
            guard held.stored == 0 else {
                state.heldFrames[process]?.stored -= 1
                return false
            }
            state.heldFrames[process]?.rest.append(frame)
            return true
        }
        if !isHeld { append(frame) }
    }

    /// Does not deliver frames to a process until `releaseFrames`.
    func holdFrames(for process: UInt64) { state.withLock { $0.heldInputs[process] = [] } }

    /// Does not deliver the next frames to a process, which can fetch them.
    func loseFrames(_ count: Int, for process: UInt64) { state.withLock { $0.lostFrames[process] = count } }

    /// Delivers the frames that were held.
    func releaseFrames(for process: UInt64) {
        state.withLock { state in
            for input in state.heldInputs.removeValue(forKey: process) ?? [] {
                state.connections[process]?.receive(input)
            }
        }
    }

    /// Appends a frame, and delivers it to all processes.
    func append(_ frame: [UInt8]) {
        change { state in
            state.frames.append(frame)
            let stored = StoredFrame(position: UInt64(state.frames.count), bytes: frame)
            for connection in state.connections.values {
                if let lost = state.lostFrames[connection.process], lost > 0 {
                    state.lostFrames[connection.process] = lost - 1
                } else if state.heldInputs[connection.process]?.append(.frame(stored)) == nil {
                    connection.receive(.frame(stored))
                }
            }
        }
    }

    /// Changes the state, and continues the tests that wait for it.
    private func change(_ change: (inout State) -> Void) {
        let due = state.withLock { state in
            change(&state)
            let figures = Figures(state)
            let due = state.watchers.filter { $0.isMet(figures) }
            state.watchers.removeAll { $0.isMet(figures) }
            return due.map(\.done)
        }
        for continuation in due { continuation.resume() }
    }

    // MARK: - Connections

    fileprivate func connect(_ connection: MemoryConnection) throws {
        if state.withLock({ $0.absent.contains(connection.process) }) { throw EngineError.notConnected("cut") }
        change { $0.connections[connection.process] = connection }
    }

    fileprivate func disconnect(_ process: UInt64) {
        let (closed, waiting) = state.withLock { state in
            defer { state.replies = [:] }
            return (state.connections.removeValue(forKey: process), state.replies)
        }
        closed?.receive(.closed)
        for continuation in waiting.values { continuation.resume(throwing: EngineError.notConnected("closed")) }
    }

    fileprivate func fetch(_ range: ClosedRange<UInt64>) -> [StoredFrame] {
        state.withLock { state in range.map { StoredFrame(position: $0, bytes: state.frames[Int($0) - 1]) } }
    }

    fileprivate func broadcast(_ bytes: [UInt8]) {
        for connection in state.withLock({ $0.connections }).values { connection.receive(.broadcast(bytes)) }
        change { state in
            state.heartbeats += 1
            state.recorded.append((0, .broadcast(bytes)))
        }
    }

    fileprivate func notify(_ process: UInt64, _ bytes: [UInt8]) {
        state.withLock { $0.connections[process] }?.receive(.call(bytes, reply: nil))
    }

    /// Sends a request to some of the processes, and waits for the first reply, or for the cancellation of the task.
    fileprivate func request(
        _ recipients: (UInt64) -> Bool,
        isCall: Bool,
        _ input: (@escaping EngineReply) -> EngineInput,
        _ sent: @escaping @Sendable () -> Void = {}
    ) async throws -> [UInt8] {
        let address = state.withLock { state in
            state.nextAddress += 1
            return "\(state.nextAddress)"
        }
        return try await withTaskCancellationHandler {
            try await wait(for: address, recipients, isCall: isCall, input, sent)
        } onCancel: {
            abandon(address)
        }
    }

    private func abandon(_ address: String) {
        state.withLock { $0.replies.removeValue(forKey: address) }?.resume(throwing: EngineError.timeout)
    }

    private func wait(
        for address: String,
        _ recipients: (UInt64) -> Bool,
        isCall: Bool,
        _ input: (@escaping EngineReply) -> EngineInput,
        _ sent: @escaping @Sendable () -> Void
    ) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            var undelivered: (@Sendable () -> Void)?
            change { state in
                let connections = state.connections.filter { recipients($0.key) }.map(\.value)
                guard !connections.isEmpty else {
                    undelivered = { continuation.resume(throwing: EngineError.noResponder) }
                    return
                }
                state.replies[address] = continuation
                let message = input { [self] in reply($0, to: address) }
                for connection in connections { state.recorded.append((connection.process, message)) }
                let deliver: @Sendable () -> Void = {
                    for connection in connections { connection.receive(message) }
                    sent()
                }
                if isCall, state.heldCalls?.append(deliver) != nil {
                    state.calls += 1
                } else {
                    undelivered = deliver
                }
            }
            if let undelivered {
                undelivered()
                if isCall { change { $0.calls += 1 } }
            }
            if Task.isCancelled { abandon(address) }
        }
    }

    private func reply(_ bytes: [UInt8], to address: String) {
        state.withLock { $0.replies.removeValue(forKey: address) }?.resume(returning: bytes)
    }
}

/// The engine as one process sees it.
struct MemoryProcess: ClusterEngine {
    let engine: MemoryEngine
    let process: UInt64

    func connect(_ receive: @escaping @Sendable (EngineInput) -> Void) async throws -> any EngineConnection {
        let connection = MemoryConnection(engine: engine, process: process, receive: receive)
        try engine.connect(connection)
        return connection
    }
}

struct MemoryConnection: EngineConnection {
    let engine: MemoryEngine
    let process: UInt64
    let receive: @Sendable (EngineInput) -> Void

    func inspectLog() -> LogGeneration {
        LogGeneration(created: engine.name, first: 1, last: UInt64(engine.figures.frames))
    }

    func append(_ frame: [UInt8], again: Bool) {
        guard let reason = engine.rejection else { return engine.append(frame, of: process) }
        if again { receive(.notStored(reason)) }
    }

    func fetch(_ range: ClosedRange<UInt64>) -> [StoredFrame] { engine.fetch(range) }

    func broadcast(_ bytes: [UInt8]) { engine.broadcast(bytes) }

    func requestFromGroup(_ bytes: [UInt8], within _: Duration) async throws -> [UInt8] {
        try await engine.request({ $0 != process }, isCall: false) { .groupRequest(bytes, reply: $0) }
    }

    func call(
        _ process: UInt64,
        _ bytes: [UInt8],
        within _: Duration,
        sent: @escaping @Sendable () -> Void
    ) async throws -> [UInt8] {
        try await engine.request({ $0 == process }, isCall: true, { .call(bytes, reply: $0) }, sent)
    }

    func notify(_ process: UInt64, _ bytes: [UInt8]) { engine.notify(process, bytes) }

    func close() { engine.disconnect(process) }
}
