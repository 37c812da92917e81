import Changes
import Primitives
import Replication
import SessionCore
import TestSupport

/// A reader of all topics that moves between nodes, as a client behind a balancer does, and checks what it receives.
struct SimulatedReader {
    private enum State {
        case idle
        /// The node has not applied what the reader has: its position at which the stream may be opened, if known.
        case waiting(node: Int, for: UInt64?, until: Moment)
        case reading(node: Int)
    }

    /// Whether a node waits until it has applied the reader's last event before it opens the stream.
    let isAwaited: Bool
    private var generator: SeededGenerator
    private var state = State.idle
    private var last: (epoch: UInt64, position: UInt64)?
    /// The number that was received last on each topic, unless the next one may be any higher one.
    private var numbers: [String: Int] = [:]
    private var highest: [String: Int] = [:]
    private(set) var resumed = 0
    private(set) var gaps = 0
    private(set) var problems: [String] = []

    init(seed: UInt64, isAwaited: Bool) {
        generator = SeededGenerator(seed: seed)
        self.isAwaited = isAwaited
    }

    /// - Parameter end: The last position of the log.
    mutating func step(_ nodes: [SimulatedNode], end: UInt64, at now: Moment) {
        switch state {
        case .idle:
            guard generator.happens(100), let node = nodes.randomElement(using: &generator), node.isAlive else {
                return
            }
            state = .waiting(node: node.number, for: isKnown(to: node) ? nil : end, until: now + .seconds(2))
        case .waiting(let number, let position, let deadline):
            let node = nodes[number]
            guard node.isAlive, now < deadline else { return state = .idle }
            guard !node.isPaused, node.machine.isServing(at: now), !isAwaited || isOpen(node, position) else { return }
            open(node)
        case .reading(let number):
            let node = nodes[number]
            guard node.isAlive, !generator.happens(5) else { return state = .idle }
            if !node.isPaused { read(node) }
        }
    }

    /// Whether the node has been in the epoch of the last event.
    private func isKnown(to node: SimulatedNode) -> Bool {
        guard let last else { return true }
        return last.epoch == node.hub.epoch || node.machine.isPast(last.epoch)
    }

    private func isOpen(_ node: SimulatedNode, _ position: UInt64?) -> Bool {
        if let position, node.hub.position < position { return false }
        guard let last, last.epoch == node.hub.epoch else { return true }
        return last.position <= node.hub.position
    }

    private mutating func open(_ node: SimulatedNode) {
        state = .reading(node: node.number)
        if let last, last.epoch == node.hub.epoch, last.position >= node.hub.base, last.position <= node.hub.position {
            resumed += 1
        } else {
            takeState(node)
        }
        read(node)
    }

    private mutating func takeState(_ node: SimulatedNode) {
        gaps += 1
        last = (node.hub.epoch, node.hub.position)
        numbers = [:]
        for (id, table) in node.hub.tables {
            guard let row = table.row, let number = Int(row[0] ?? "") else { continue }
            if number < highest[id] ?? 0 { problems.append("\(id): state \(number) after \(highest[id] ?? 0)") }
            numbers[id] = number
            highest[id] = max(number, highest[id] ?? 0)
        }
    }

    private mutating func read(_ node: SimulatedNode) {
        // A node that has loaded another state begins its streams again.
        guard let last, last.epoch == node.hub.epoch, last.position >= node.hub.base else { return takeState(node) }
        for entry in node.hub.told.reversed().prefix(while: { $0.position > last.position }).reversed() {
            guard case .subscription(let subscription, .event(let event)) = entry.change else { continue }
            let id = subscription.rawValue
            switch event {
            case .subscribed, .unsubscribed: numbers[id] = nil
            case .update(let update): check(Int(update.values[0] ?? "") ?? -1, of: id)
            default: break
            }
        }
        self.last = (last.epoch, node.hub.position)
    }

    private mutating func check(_ number: Int, of id: String) {
        if let previous = numbers[id], number != previous + 1 { problems.append("\(id): \(number) after \(previous)") }
        if number <= highest[id] ?? 0 { problems.append("\(id): \(number) after the higher \(highest[id] ?? 0)") }
        numbers[id] = number
        highest[id] = max(number, highest[id] ?? 0)
    }
}
