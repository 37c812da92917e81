import DemoServer
import Primitives
import SessionCore
import TLCP
import TLCPTransports

/// The upstream server: the machine of the demo server, with connections that are late and break.
///
/// `@unchecked Sendable`: used by the thread of the simulation only.
final class SimulatedServer: @unchecked Sendable {
    static let adapters: [String: ManualFeedConfiguration] = [
        "RAW": ManualFeedConfiguration(items: ["raw1", "raw2", "raw3"], fields: ["number"], mode: .raw),
        "MERGE": ManualFeedConfiguration(items: ["merge1", "merge2"], fields: ["number", "text"], mode: .merge),
    ]

    let simulator: Simulator
    private var machine: DemoServerMachine
    private var links: [LinkID: SimulatedTransport] = [:]
    private var lastLink = 0
    /// Processes whose connections break at once.
    private var absent: Set<Int> = []
    private var wake: (at: Duration, timer: SimulatedTimer)?
    /// The number published last, by item.
    private(set) var published: [String: Int] = [:]

    init(_ simulator: Simulator, seed: UInt64) {
        self.simulator = simulator
        var configuration = DemoServerConfiguration()
        configuration.manualFeeds = Self.adapters
        configuration.feeds.isMoving = false
        configuration.limits.padding = 0
        machine = DemoServerMachine(configuration, identitySeed: seed)
    }

    private var now: Duration { .nanoseconds(simulator.nanoseconds) }

    var census: ServerCensus { machine.census }

    /// Publishes the next number of an item.
    func publish(_ item: String, to adapter: String) {
        published[item, default: 0] += 1
        let number = published[item, default: 0]
        let values: [String?] = adapter == "RAW" ? ["\(number)"] : ["\(number)", "text \(number / 3)"]
        perform(machine.published(.publish(item: item, values: values), to: adapter, at: now))
    }

    // MARK: - Connections

    func connector(for process: Int) -> any TransportConnector { SimulatedConnector(server: self, process: process) }

    fileprivate func open(
        _ request: ConnectionRequest,
        for process: Int,
        _ events: @escaping @Sendable (TransportEvent) -> Void
    ) -> SimulatedTransport {
        lastLink += 1
        let transport = SimulatedTransport(self, LinkID(lastLink), request, process, events)
        links[transport.link] = transport
        if absent.contains(process) {
            transport.isReachable = false
            transport.deliver(.closed(.unreachable(reason: "cut")))
        } else {
            transport.toServer.send(after: latency) { [self] in accept(transport) }
        }
        return transport
    }

    fileprivate var latency: Duration { .microseconds(1) + simulator.delay(upTo: 8) }

    private func accept(_ transport: SimulatedTransport) {
        let (link, request) = (transport.link, transport.request)
        if request.kind == .webSocket {
            if let status = machine.webSocketRequested(at: now) {
                return transport.deliver(.closed(.failed(reason: "status \(status)")))
            }
            transport.isAccepted = true
            transport.deliver(.opened)
            let actions = machine.webSocketOpened(link, subprotocol: request.subprotocol, from: "10.0.0.1", at: now)
            perform(actions)
        } else {
            transport.isAccepted = true
            let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
            let query = parts.count > 1 ? parts[1] : ""
            let text = HTTPRequestText(path: parts[0], query: query, body: request.body)
            perform(machine.requested(text, on: link, from: "10.0.0.1", at: now))
        }
    }

    fileprivate func received(_ message: [UInt8], on transport: SimulatedTransport) {
        if transport.isAccepted { perform(machine.received(message: message, on: transport.link, at: now)) }
    }

    fileprivate func left(_ transport: SimulatedTransport) {
        guard links.removeValue(forKey: transport.link) != nil, transport.isAccepted else { return }
        perform(machine.closed(transport.link, at: now))
    }

    /// Breaks the connections of a process. Both ends notice it, unless the process was killed.
    func cut(_ process: Int, isKilled: Bool = false) {
        for (_, transport) in links.sorted(by: { $0.key < $1.key }) where transport.process == process {
            transport.break(isNoticed: !isKilled)
            transport.toServer.send(after: latency) { [self] in left(transport) }
        }
    }

    /// The process cannot connect until `admit`.
    func refuse(_ process: Int, isKilled: Bool = false) {
        absent.insert(process)
        cut(process, isKilled: isKilled)
    }

    func admit(_ process: Int) { absent.remove(process) }

    // MARK: - Actions

    private func perform(_ actions: [ServerAction]) {
        for action in actions { perform(action) }
        guard let deadline = machine.nextDeadline, wake.map({ deadline < $0.at || $0.at < now }) ?? true else { return }
        wake?.timer.cancel()
        let delay = max(.microseconds(1), deadline - now)
        let timer = simulator.schedule(after: delay, as: Simulator.world) { [self] in
            wake = nil
            perform(machine.timePassed(at: now))
        }
        wake = (deadline, timer)
    }

    private func perform(_ action: ServerAction) {
        switch action {
        case .respond(let link, let answer):
            guard let transport = links[link] else { return }
            if (200..<300).contains(answer.status) {
                transport.deliver(.opened)
                transport.deliver(answer.body)
                transport.deliver(.closed(.completed))
            } else {
                transport.deliver(.closed(.refused(reason: "status \(answer.status)", status: answer.status)))
            }
        case .openStream(let link): links[link]?.deliver(.opened)
        case .write(let link, let bytes, _): links[link]?.deliver(bytes)
        case .endStream(let link, _), .close(let link, _): links[link]?.deliver(.closed(.completed))
        case .cut(let link): links[link]?.deliver(.closed(.failed(reason: "cut")))
        case .stopReading: break
        }
    }
}

private struct SimulatedConnector: TransportConnector {
    let server: SimulatedServer
    let process: Int

    func open(
        _ request: ConnectionRequest,
        events: @escaping @Sendable (TransportEvent) -> Void
    ) -> any Transport {
        server.open(request, for: process, events)
    }

    func shutDown() async {}
}

/// One connection of a process to the upstream server.
///
/// `@unchecked Sendable`: used by the thread of the simulation only.
private final class SimulatedTransport: Transport, @unchecked Sendable {
    let link: LinkID
    let request: ConnectionRequest
    let process: Int
    let toServer: SimulatedChannel
    /// Whether the server knows it.
    var isAccepted = false
    /// Whether messages arrive.
    var isReachable = true
    private let toClient: SimulatedChannel
    private let server: SimulatedServer
    private let events: @Sendable (TransportEvent) -> Void
    private var splitter = LineSplitter()
    /// Whether no further event follows.
    private var isOver = false

    init(
        _ server: SimulatedServer,
        _ link: LinkID,
        _ request: ConnectionRequest,
        _ process: Int,
        _ events: @escaping @Sendable (TransportEvent) -> Void
    ) {
        (self.server, self.link, self.request, self.process, self.events) = (server, link, request, process, events)
        toServer = SimulatedChannel(server.simulator, to: Simulator.world)
        toClient = SimulatedChannel(server.simulator, to: process)
    }

    // MARK: - The client's end

    func send(_ message: [UInt8]) {
        guard isReachable else { return }
        toServer.send(after: server.latency) { [self] in if isReachable { server.received(message, on: self) } }
    }

    func handled(_: Int) {}

    func close() {
        isOver = true
        toServer.send(after: server.latency) { [self] in server.left(self) }
    }

    func release() { close() }

    // MARK: - The server's end

    func deliver(_ bytes: [UInt8]) {
        guard isReachable else { return }
        toClient.send(after: server.latency) { [self] in
            guard !isOver, let lines = try? splitter.feed(bytes) else { return }
            events(.received(LineBatch(lines: lines, byteCount: bytes.count)))
        }
    }

    func deliver(_ event: TransportEvent) {
        toClient.send(after: server.latency) { [self] in
            guard !isOver else { return }
            if case .closed = event {
                isOver = true
                server.left(self)
            }
            events(event)
        }
    }

    /// The connection breaks: what is under way is lost.
    func `break`(isNoticed: Bool) {
        guard isReachable else { return }
        isReachable = false
        toClient.cut()
        if isNoticed { deliver(.closed(.failed(reason: "broken"))) } else { isOver = true }
    }
}
