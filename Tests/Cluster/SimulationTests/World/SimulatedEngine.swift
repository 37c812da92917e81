import Primitives
import Replication
import TestSupport

/// The engine, as `ClusterEngine` describes it: appends and deliveries are late, and lost at times; connections are cut; the
/// log is emptied, or goes back to an earlier state; processes are shown other frames than those that were appended.
///
/// `@unchecked Sendable`: used by the thread of the simulation only.
final class SimulatedEngine: @unchecked Sendable {
    let simulator: Simulator
    /// In thousandths: how often an append or a delivery is lost.
    private var loss: Int
    private(set) var log: [[UInt8]] = []
    private var created = 1
    private(set) var isUp = true
    /// The number of frames that were appended.
    private(set) var appends = 0
    /// The connections by the number of the process.
    private var connections: [Int: SimulatedConnection] = [:]
    /// The processes that cannot connect.
    private var absent: Set<Int> = []
    private var lies = EngineLies()
    private var replies: [String: SimulatedReply] = [:]
    private var address = 0

    init(_ simulator: Simulator, loss: Int) { (self.simulator, self.loss) = (simulator, loss) }

    private func happens(_ perMille: Int) -> Bool { Int.random(in: 0..<1000, using: &simulator.generator) < perMille }

    // MARK: - Faults

    /// Cuts the connection of a process, which cannot connect until `admit`.
    func cut(_ process: Int) {
        absent.insert(process)
        disconnect(process, isNoticed: true)
    }

    func admit(_ process: Int) { absent.remove(process) }

    /// The process is killed: nothing of it arrives any more.
    func forget(_ process: Int) {
        absent.insert(process)
        disconnect(process, isNoticed: false)
    }

    func stop() {
        isUp = false
        for process in connections.keys.sorted() { disconnect(process, isNoticed: true) }
    }

    func start() { isUp = true }

    /// Nothing is lost any more.
    func endLosses() { loss = 0 }

    /// The log loses its newest frames.
    func rollBack(by count: Int) {
        log.removeLast(min(count, log.count))
        lies.forget(from: log.count)
    }

    func empty() {
        log = []
        lies = EngineLies()
        created += 1
    }

    // MARK: - Lies

    /// These processes read other frames than the next ones.
    func lie(_ lie: EngineLie, to processes: Set<Int>) {
        lies.begin(lie, to: processes, at: log.count, bit: Int.random(in: 0..<1 << 20, using: &simulator.generator))
    }

    /// These processes cannot read the next frame.
    func loseNextFrame(for processes: Set<Int>) { lies.lose(log.count, for: processes) }

    /// A server that receives no frames any more returns the frames that these processes fetch, until `endStaleness`.
    func answerFromStaleServer(_ processes: Set<Int>) { lies.stale = (processes, log.count) }

    func endStaleness() { lies.stale = nil }

    /// Frames that the log has are appended again, since it does not recognize them any more.
    func repeatFrames(_ count: Int) { for frame in log.suffix(count) { append(frame) } }

    /// How often a process receives a frame more than once, in thousandths.
    var echoes = 0

    private func disconnect(_ process: Int, isNoticed: Bool) {
        guard let connection = connections.removeValue(forKey: process) else { return }
        connection.isOpen = false
        connection.channel.cut()
        if isNoticed { connection.channel.send(after: .zero) { connection.receive(.closed) } }
    }

    // MARK: - Connections

    fileprivate func connect(_ connection: SimulatedConnection) throws {
        guard isUp, !absent.contains(connection.number) else { throw EngineError.notConnected("away") }
        connections[connection.number] = connection
    }

    fileprivate func close(_ connection: SimulatedConnection) {
        if connections[connection.number] === connection { disconnect(connection.number, isNoticed: true) }
    }

    fileprivate var generation: LogGeneration {
        LogGeneration(created: "\(created)", first: 1, last: UInt64(log.count))
    }

    fileprivate func append(_ frame: [UInt8]) {
        guard !happens(loss) else { return }
        simulator.schedule(after: simulator.delay(upTo: 20), as: Simulator.world) { [self] in
            guard isUp else { return }
            log.append(frame)
            appends += 1
            for index in lies.appended(to: log) { announce(index) }
        }
    }

    private func announce(_ index: Int) {
        for (process, connection) in connections.sorted(by: { $0.key < $1.key }) where !happens(loss) {
            guard let frame = lies.frame(index, of: log, for: process) else { continue }
            connection.deliver(.frame(frame))
            if happens(echoes) { connection.deliver(.frame(frame)) }
        }
    }

    fileprivate func frames(_ range: ClosedRange<UInt64>, for process: Int) -> [StoredFrame] {
        let end = UInt64(lies.end(of: log, for: process))
        let frames = range.lazy.filter { $0 > 0 && $0 <= end }.map {
            self.lies.frame(Int($0) - 1, of: self.log, for: process)
        }
        return frames.prefix { $0 != nil }.compactMap(\.self)
    }

    fileprivate func broadcast(_ bytes: [UInt8]) {
        for (_, connection) in connections.sorted(by: { $0.key < $1.key }) { connection.deliver(.broadcast(bytes)) }
    }

    fileprivate func notify(_ process: UInt64, _ bytes: [UInt8]) {
        connections.values.first { $0.process == process }?.deliver(.call(bytes, reply: nil))
    }

    private func reply(_ bytes: [UInt8], to address: String) {
        guard let reply = replies.removeValue(forKey: address) else { return }
        simulator.schedule(after: simulator.delay(upTo: 10), as: reply.process) { reply.end(.success(bytes)) }
    }

    /// Sends a request to some connections; the first reply counts.
    fileprivate func request(
        _ reply: SimulatedReply,
        within time: Duration,
        of recipients: (SimulatedConnection) -> Bool,
        _ message: (@escaping EngineReply) -> EngineInput
    ) {
        let receivers = connections.values.filter(recipients).sorted { $0.number < $1.number }
        guard !receivers.isEmpty else {
            simulator.schedule(as: reply.process) { reply.end(.failure(EngineError.noResponder)) }
            return
        }
        address += 1
        let name = "\(address)"
        replies[name] = reply
        for receiver in receivers {
            receiver.deliver(message { [self] in if receiver.isOpen { self.reply($0, to: name) } })
        }
        simulator.schedule(after: time, as: reply.process) { [self] in
            replies[name] = nil
            reply.end(.failure(EngineError.timeout))
        }
    }
}

/// The reply to a request, or its failure.
private final class SimulatedReply {
    let process: Int
    private var continuation: CheckedContinuation<[UInt8], any Error>?

    init(_ continuation: CheckedContinuation<[UInt8], any Error>, for process: Int) {
        (self.continuation, self.process) = (continuation, process)
    }

    func end(_ result: Result<[UInt8], any Error>) { continuation.take()?.resume(with: result) }
}

/// The engine as one process sees it.
struct SimulatedEngineAccess: ClusterEngine {
    let engine: SimulatedEngine
    let number: Int
    let process: UInt64

    func connect(_ receive: @escaping @Sendable (EngineInput) -> Void) async throws -> any EngineConnection {
        let connection = SimulatedConnection(engine, number, process, receive)
        await connection.pause()
        try engine.connect(connection)
        return connection
    }
}

/// A connection of a process to the engine.
///
/// `@unchecked Sendable`: used by the thread of the simulation only.
private final class SimulatedConnection: EngineConnection, @unchecked Sendable {
    let number: Int
    let process: UInt64
    let channel: SimulatedChannel
    let receive: @Sendable (EngineInput) -> Void
    var isOpen = true
    private let engine: SimulatedEngine

    init(
        _ engine: SimulatedEngine,
        _ number: Int,
        _ process: UInt64,
        _ receive: @escaping @Sendable (EngineInput) -> Void
    ) {
        (self.engine, self.number, self.process, self.receive) = (engine, number, process, receive)
        channel = SimulatedChannel(engine.simulator, to: number)
    }

    private var simulator: Simulator { engine.simulator }

    func deliver(_ input: EngineInput) {
        channel.send(after: simulator.delay(upTo: 20)) { [self] in if isOpen { receive(input) } }
    }

    /// The time that a request takes.
    func pause() async {
        await withCheckedContinuation { continuation in
            simulator.schedule(after: simulator.delay(upTo: 10), as: number) { continuation.resume() }
        }
    }

    private func answer<Value>(_ value: () throws -> Value) async throws -> Value {
        await pause()
        guard isOpen else { throw EngineError.notConnected("closed") }
        return try value()
    }

    func inspectLog() async throws -> LogGeneration { try await answer { engine.generation } }

    func append(_ frame: [UInt8], again: Bool) { if isOpen { engine.append(frame) } }

    func fetch(_ range: ClosedRange<UInt64>) async throws -> [StoredFrame] {
        try await answer {
            let frames = engine.frames(range, for: number)
            if frames.isEmpty { throw EngineError.missing }
            return frames
        }
    }

    func broadcast(_ bytes: [UInt8]) { if isOpen { engine.broadcast(bytes) } }

    func requestFromGroup(_ bytes: [UInt8], within time: Duration) async throws -> [UInt8] {
        try await request(within: time, of: { $0.number != self.number }) { .groupRequest(bytes, reply: $0) }
    }

    func call(
        _ process: UInt64,
        _ bytes: [UInt8],
        within time: Duration,
        sent: @escaping @Sendable () -> Void
    ) async throws -> [UInt8] {
        sent()
        return try await request(within: time, of: { $0.process == process }) { .call(bytes, reply: $0) }
    }

    private func request(
        within time: Duration,
        of recipients: (SimulatedConnection) -> Bool,
        _ message: (@escaping EngineReply) -> EngineInput
    ) async throws -> [UInt8] {
        guard isOpen else { throw EngineError.notConnected("closed") }
        return try await withCheckedThrowingContinuation { continuation in
            engine.request(SimulatedReply(continuation, for: number), within: time, of: recipients, message)
        }
    }

    func notify(_ process: UInt64, _ bytes: [UInt8]) { if isOpen { engine.notify(process, bytes) } }

    func close() { engine.close(self) }
}
