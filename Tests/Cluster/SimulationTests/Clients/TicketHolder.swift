import Glibc
import JSONText
import MicroHTTPD
import TestSupport

/// A client that presents each ticket to several gateways at once, and again: it opens one stream.
final class TicketHolder {
    /// The items of its streams.
    static let items = ["raw3"]

    private let name: Int
    private let simulation: Simulation
    private var ticket = ""
    private var presented = 0
    private var losses = 0
    private var opened = 0
    /// The streams that were opened with the present ticket, or that may turn out to be refused by their first event.
    private var streams: [(gateway: SimulatedGateway, descriptor: Int32)] = []
    private var isOver = false
    private(set) var isDone = false
    /// How many tickets have opened a stream.
    private(set) var used = 0
    private(set) var problems: [String] = []

    init(_ name: Int, _ simulation: Simulation) {
        (self.name, self.simulation) = (name, simulation)
        next()
    }

    /// Ends with the present ticket.
    func end() { isOver = true }

    /// The gateway was killed: what it has written is read.
    func lost(_ gateway: SimulatedGateway) { streams.filter { $0.gateway === gateway }.forEach(close) }

    private func next(after milliseconds: Int = 500) {
        let simulator = simulation.simulator
        simulator.schedule(after: .milliseconds(20) + simulator.delay(upTo: milliseconds), as: Simulator.world) {
            [weak self] in self?.act()
        }
    }

    private func act() {
        if ticket.isEmpty { return isOver ? isDone = true : issue() }
        presented += 1
        guard presented <= 3 else { return finish() }
        for _ in 0..<Int.random(in: 1...3, using: &simulation.simulator.generator) { present() }
        next(after: 3000)
    }

    private func issue() {
        simulation.call(Simulation.request("POST", "/v1/tickets", "", nil)) { [self] status, json in
            if status == 201, let text = json["ticket"]?.string {
                (ticket, presented, opened, losses) = (text, 0, 0, simulation.losses)
            } else if status != 503, status != 0 {
                problems.append("holder \(name): POST: \(status)")
            }
            next()
        }
    }

    private func present() {
        guard let gateway = simulation.anyGateway() else { return }
        let fields = HTTPFields([
            HTTPField("Host", "gateway.example"), HTTPField("Accept", "text/event-stream"),
        ])
        let query = StreamReader.query(Self.items) + "&ticket=\(ticket)"
        let present = ticket
        _ = gateway.send(HTTPRequest(method: "GET", rawPath: "/v1/stream", rawQuery: query, headers: fields)) {
            [self] answer in
            switch answer {
            case .stream(let descriptor) where present == ticket: streams.append((gateway, descriptor))
            case .stream(let descriptor):
                Glibc.close(descriptor)
                gateway.wake()
            // 200: one event `closing`.
            case .response(let response) where ![200, 401, 503].contains(response.status):
                problems.append("holder \(name): status \(response.status)")
            case .response, .none: break
            }
        }
    }

    private func finish() {
        streams.forEach(close)
        used += opened > 0 ? 1 : 0
        if opened > 1, losses == simulation.losses {
            problems.append("holder \(name): a ticket opened \(opened) streams")
        }
        ticket = ""
        next()
    }

    /// Closes a stream; a gateway that could not open it has sent one event `closing`.
    private func close(_ stream: (gateway: SimulatedGateway, descriptor: Int32)) {
        var (parser, chunks) = (EventStreamParser(), ChunkDecoder())
        let count = recv(stream.descriptor, &simulation.buffer, simulation.buffer.count, Int32(MSG_DONTWAIT))
        if count > 0, parser.feed(chunks.feed(simulation.buffer[..<count])).first?.name == "stream" { opened += 1 }
        Glibc.close(stream.descriptor)
        stream.gateway.wake()
        streams.removeAll { $0.descriptor == stream.descriptor }
    }
}
