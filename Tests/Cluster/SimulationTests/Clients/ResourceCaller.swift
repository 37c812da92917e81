import JSONText
import MicroHTTPD

/// A caller that makes, changes, reads and deletes one subscription after the other, each time through any gateway, and checks
/// that nothing is lost that was confirmed.
final class ResourceCaller {
    private enum Step {
        case make
        case use(left: Int)
        case verifyDeletion
    }

    let name: Int
    private let simulation: Simulation
    private var step = Step.make
    private var made = 0
    private var key = ""
    private var path = ""
    /// The values that a reader may see: the last confirmed one, and those that may have been written since.
    private var allowed: Set<Int?> = [nil]
    private var isOver = false
    /// Whether no resource of it exists any more.
    private(set) var isDone = false
    private(set) var confirmed = 0
    private(set) var problems: [String] = []
    /// The losses of the engine when the present resource was made.
    private var losses = 0

    init(_ name: Int, _ simulation: Simulation) {
        (self.name, self.simulation) = (name, simulation)
        next()
    }

    /// Ends after the deletion of the present resource.
    func end() { isOver = true }

    private func next() {
        let simulator = simulation.simulator
        simulator.schedule(after: .milliseconds(20) + simulator.delay(upTo: 300), as: Simulator.world) {
            [weak self] in self?.act()
        }
    }

    private func act() {
        switch step {
        case .make:
            // A request without an answer may have made a subscription.
            if !isOver || !key.isEmpty { return make() }
            isDone = true
        case .use(0): delete()
        case .use(let left):
            step = .use(left: isOver ? 0 : left - 1)
            if simulation.happens(400) { change() } else { read() }
        case .verifyDeletion: verifyDeletion()
        }
    }

    /// Makes a subscription; without an answer, the request is repeated with the same key.
    private func make() {
        if key.isEmpty {
            made += 1
            key = "key-\(name)-\(made)"
            losses = simulation.losses
        }
        let body =
            #"{"upstream":"demo","mode":"MERGE","items":["c\#(name)x\#(made)"],"fields":["number"],"active":false}"#
        call("POST", "/v1/subscriptions", body, key) { [self] status, json in
            if status == 201, let id = json["id"]?.string {
                path = "/v1/subscriptions/\(id)"
                (key, allowed, confirmed) = ("", [nil], confirmed + 1)
                step = .use(left: Int.random(in: 2...8, using: &simulation.simulator.generator))
            } else if status != 503, status != 0 {
                problems.append("caller \(name): POST: \(status)")
            }
        }
    }

    private func change() {
        let value = Int.random(in: 1...999, using: &simulation.simulator.generator)
        allowed.insert(value)
        call("PATCH", path, #"{"requestedMaxFrequency":\#(value)}"#) { [self] status, _ in
            if status == 200 { allowed = [value] }
            found(status, "PATCH")
        }
    }

    private func read() {
        call("GET", path) { [self] status, json in
            found(status, "GET")
            guard status == 200 else { return }
            let value = json["requestedMaxFrequency"]?.number?.intValue
            if !allowed.contains(value), losses == simulation.losses {
                problems.append("caller \(name): \(path) has \(String(describing: value)) instead of \(allowed)")
            }
        }
    }

    private func found(_ status: Int, _ method: String) {
        guard status == 404 else { return }
        if losses == simulation.losses { problems.append("caller \(name): \(method) \(path): 404") }
        step = .make
    }

    private func delete() {
        call("DELETE", path) { [self] status, _ in
            // Without an answer it may be deleted, so that 404 is right the next time.
            if status == 204 || status == 404 { step = .verifyDeletion }
        }
    }

    private func verifyDeletion() {
        call("GET", path) { [self] status, _ in
            if status == 200, losses == simulation.losses {
                problems.append("caller \(name): \(path) is there after its deletion")
            }
            if status == 200 || status == 404 { step = .make }
        }
    }

    /// Sends a request; status 0: there is no answer.
    private func call(
        _ method: String,
        _ path: String,
        _ body: String = "",
        _ key: String? = nil,
        _ done: @escaping (Int, JSONValue) -> Void
    ) {
        simulation.call(Simulation.request(method, path, body, key)) { [self] status, json in
            if status >= 500, status != 503 { problems.append("caller \(name): \(method) \(path): \(status)") }
            done(status, json)
            next()
        }
    }
}

/// A caller whose quota is small: what is confirmed to it never exceeds the quota, and what it may not read it does not get.
final class LimitedCaller {
    static let limit = 3

    private let simulation: Simulation
    private var held: Set<String> = []
    /// The subscription whose deletion has no answer yet: it may be deleted.
    private var leaving: String?
    private var made = 0
    /// The key of a request that has no answer yet.
    private var key = ""
    private(set) var isOver = false
    private(set) var problems: [String] = []
    /// How often the quota was reached.
    private(set) var refused = 0

    init(_ simulation: Simulation) {
        self.simulation = simulation
        next()
    }

    func end() { isOver = true }

    /// Whether it has no resource any more.
    var isDone: Bool { isOver && held.isEmpty && leaving == nil && key.isEmpty }

    private func next() {
        let simulator = simulation.simulator
        simulator.schedule(after: .milliseconds(50) + simulator.delay(upTo: 400), as: Simulator.world) {
            [weak self] in self?.act()
        }
    }

    private func act() {
        if !key.isEmpty { return make() }
        if isOver || leaving != nil || (held.count > 1 && simulation.happens(400)) {
            guard let path = leaving ?? held.min() else { return }
            held.remove(path)
            leaving = path
            return send("DELETE", path) { [self] status, _ in
                if status == 204 || status == 404 { leaving = nil }
            }
        }
        if simulation.happens(200) { return trespass() }
        make()
    }

    private func make() {
        if key.isEmpty {
            made += 1
            key = "limited-\(made)"
        }
        let body = #"{"upstream":"demo","mode":"MERGE","items":["own\#(made)"],"fields":["number"],"active":false}"#
        send("POST", "/v1/subscriptions", body, key) { [self] status, json in
            if status != 0, status != 503 { key = "" }
            if status == 201, let id = json["id"]?.string {
                held.insert("/v1/subscriptions/\(id)")
                // An engine that has lost its data has lost what was used.
                if held.count > Self.limit, simulation.losses == 0 {
                    problems.append("\(held.count) subscriptions with a quota of \(Self.limit)")
                }
            } else if status == 429 || status == 403 {
                refused += 1
            }
        }
    }

    /// Asks for an item that it may not read.
    private func trespass() {
        let body = #"{"upstream":"demo","mode":"MERGE","items":["raw1"],"fields":["number"],"active":false}"#
        send("POST", "/v1/subscriptions", body) { [self] status, _ in
            if (200..<300).contains(status) { problems.append("a caller got an item that it may not read") }
        }
    }

    private func send(
        _ method: String,
        _ path: String,
        _ body: String = "",
        _ key: String? = nil,
        _ done: @escaping (Int, JSONValue) -> Void
    ) {
        simulation.call(Simulation.request(method, path, body, key, as: Simulation.limited)) { [self] status, json in
            done(status, json)
            next()
        }
    }
}
