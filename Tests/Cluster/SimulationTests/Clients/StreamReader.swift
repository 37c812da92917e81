import Glibc
import JSONText
import MicroHTTPD
import TestSupport

/// A reader of a stream, which moves between gateways as a client behind a balancer does, and checks every event.
final class StreamReader {
    /// What all readers have received, by the id of the event.
    final class Contents {
        var events: [String: String] = [:]
    }

    private enum State {
        case idle
        case opening(SimulatedGateway, attempt: Int)
        case reading(SimulatedGateway, Int32)
    }

    let name: Int
    /// The items that it reads.
    let items: [String]
    private let isMerged: Bool
    /// The path and the query of the stream; nil: there is none at the moment.
    var target: (path: String, query: String)?
    /// Called with the status of a response that is not a stream; true if that status may be.
    var isAllowed: (Int) -> Bool = { $0 == 503 }
    private let simulation: Simulation
    private let contents: Contents
    private var state = State.idle
    private var attempt = 0
    private var isOver = false
    private var lastID: String?
    private var parser = EventStreamParser()
    private var chunks = ChunkDecoder()
    /// The number that was received last of each item, unless the next one may be any higher one.
    private var numbers: [String: Int] = [:]
    /// The highest number of each item.
    private(set) var highest: [String: Int] = [:]
    /// Whether the last `stream` event allows a state that is known already.
    private(set) var resumed = 0
    private(set) var gaps = 0
    private(set) var problems: [String] = []
    /// What is no violation if a gap follows.
    private var doubts: [String] = []

    init(_ name: Int, _ items: [String], _ contents: Contents, _ simulation: Simulation) {
        (self.name, self.items, isMerged) = (name, items, items[0].hasPrefix("merge"))
        (self.contents, self.simulation) = (contents, simulation)
        target = ("/v1/stream", Self.query(items))
        visit(after: 500)
    }

    private var simulator: Simulator { simulation.simulator }

    /// The query of the stream of some items.
    static func query(_ items: [String]) -> String {
        let kind = items[0].hasPrefix("merge") ? "MERGE" : "RAW"
        return "upstream=demo&mode=\(kind)&dataAdapter=\(kind)&items=\(items.joined(separator: ","))&fields=number"
    }

    /// Whether it has an open stream.
    var isReading: Bool { if case .reading = state { true } else { false } }

    /// Leaves for good.
    func end() {
        isOver = true
        problems += doubts
        close()
    }

    /// The gateway was killed: what it has written is read.
    func lost(_ gateway: SimulatedGateway) {
        switch state {
        case .idle: break
        case .opening(let present, _): if present === gateway { state = .idle }
        case .reading(let present, let descriptor):
            guard present === gateway else { return }
            _ = read(descriptor)
            close()
        }
    }

    private func visit(after milliseconds: Int) {
        simulator.schedule(after: .milliseconds(1) + simulator.delay(upTo: milliseconds), as: Simulator.world) {
            [weak self] in self?.act()
        }
    }

    private func act() {
        if isOver { return }
        defer { visit(after: 200) }
        switch state {
        case .idle: open()
        case .opening(_, let attempt):
            // A client does not wait for ever.
            if simulation.happens(20), attempt == self.attempt { state = .idle }
        case .reading(let gateway, let descriptor):
            guard read(descriptor), !simulation.happens(25) || simulation.isCalm else { return close() }
            gateway.wake()
        }
    }

    private func open() {
        guard let target, let gateway = simulation.anyGateway() else { return }
        attempt += 1
        var fields = HTTPFields([
            HTTPField("Host", "gateway.example"), HTTPField("Authorization", "Bearer \(Simulation.admin)"),
            HTTPField("Accept", "text/event-stream"),
        ])
        if let lastID { fields.append("Last-Event-ID", lastID) }
        let request = HTTPRequest(method: "GET", rawPath: target.path, rawQuery: target.query, headers: fields)
        state = .opening(gateway, attempt: attempt)
        let number = attempt
        _ = gateway.send(request) { [self] answer in
            switch (answer, state) {
            case (.stream(let descriptor), .opening(_, number)) where !isOver:
                state = .reading(gateway, descriptor)
                (parser, chunks) = (EventStreamParser(), ChunkDecoder())
                return
            case (.stream(let descriptor), _):
                // It has left meanwhile.
                Glibc.close(descriptor)
                gateway.wake()
            case (.response(let response), .opening(_, number)) where self.target?.path == target.path:
                if !isAllowed(response.status) { problems.append("reader \(name): status \(response.status)") }
            default: break
            }
            if case .opening(_, number) = state { state = .idle }
        }
    }

    private func close() {
        guard case .reading(let gateway, let descriptor) = state else { return state = .idle }
        Glibc.close(descriptor)
        state = .idle
        gateway.wake()
    }

    /// Reads what has arrived; false at the end of the stream.
    private func read(_ descriptor: Int32) -> Bool {
        while true {
            let count = recv(descriptor, &simulation.buffer, simulation.buffer.count, Int32(MSG_DONTWAIT))
            if count == 0 { return false }
            if count < 0 { return errno == EAGAIN }
            for event in parser.feed(chunks.feed(simulation.buffer[..<count])) { take(event) }
        }
    }

    // MARK: - Events

    private func take(_ event: ParsedEvent) {
        if event.name == "stream" { opened(event) }
        if !event.id.isEmpty { check(event) }
        switch event.name {
        case "subscribed", "unsubscribed", "lost-updates": numbers = [:]
        case "update": update(event.data)
        default: break
        }
    }

    private func opened(_ event: ParsedEvent) {
        switch json(event.data)["resume"]?.string {
        case "resumed": resumed += 1
        case "gap":
            gaps += 1
            (numbers, doubts) = ([:], [])
        default: if let lastID { problems.append("reader \(name): begins again after \(lastID)") }
        }
    }

    private func check(_ event: ParsedEvent) {
        let id = event.id
        guard id != lastID || event.name == "update" else { return }
        let (epoch, number) = Self.parts(of: id)
        let isState = number & 0xFFFF >= 0xFF00
        // Updates that were conflated for a slow reader have the id of one of them, which others may have received alone.
        let isConflated = isMerged && event.name == "update" && json(event.data)["conflated"] != nil
        if !isConflated {
            if let known = contents.events[id], known != event.name + event.data, !isState, !simulation.hasTwoLogs {
                problems.append("\(id) is \(known) and \(event.name)\(event.data)")
            }
            contents.events[id] = event.name + event.data
        }
        if let lastID {
            let (lastEpoch, last) = Self.parts(of: lastID)
            if epoch == lastEpoch, number < last || number == last && !isState {
                problems.append("reader \(name): \(id) after \(lastID)")
            }
        }
        lastID = id
    }

    private static func parts(of id: String) -> (epoch: Substring, number: UInt64) {
        let parts = id.split(separator: "-")
        return (parts.first ?? "", parts.last.flatMap { UInt64($0) } ?? 0)
    }

    private func json(_ text: String) -> JSONValue { (try? JSONValue(parsing: Array(text.utf8))) ?? .null }

    private func update(_ data: String) {
        let value = json(data)
        guard let item = value["item"]?.string, let text = value["fields"]?["number"]?.string, let number = Int(text)
        else { return problems.append("reader \(name): an update without a number: \(data)") }
        let top = highest[item] ?? 0
        if number < top || (number == top && !isMerged) {
            contradicted("\(item) \(number) after \(top)")
        } else if !isMerged, let last = numbers[item], number != last + 1 {
            contradicted("a hole of \(item): \(number) after \(last)")
        }
        numbers[item] = number
        highest[item] = max(number, top)
    }

    /// An event does not fit the ones before it. While the engine shows two logs, a reader that moves between gateways may
    /// have read both, until these notice it and begin again.
    private func contradicted(_ text: String) {
        let problem = "reader \(name): \(text)"
        if simulation.showsTwoLogs { doubts.append(problem) } else { problems.append(problem) }
    }
}

/// Removes the chunked transfer coding from bytes in any portions.
struct ChunkDecoder {
    private var rest: [UInt8] = []

    mutating func feed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        rest += bytes
        var (payload, start): ([UInt8], Int) = ([], 0)
        while let end = rest[start...].firstIndex(of: 0x0D), let length = length(start..<end),
            rest.count >= end + 2 + length + 2
        {
            payload += rest[end + 2..<end + 2 + length]
            start = end + 2 + length + 2
        }
        rest.removeFirst(start)
        return payload
    }

    private func length(_ range: Range<Int>) -> Int? { Int(String(decoding: rest[range], as: UTF8.self), radix: 16) }
}
