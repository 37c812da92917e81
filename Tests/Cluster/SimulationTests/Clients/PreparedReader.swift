import JSONText

/// A client that prepares a stream, reads it through any gateway, and deletes it, again and again: no gateway may have forgotten
/// it, and two do not have it open at once.
final class PreparedReader {
    private enum Step {
        case make
        case read(left: Int)
        case delete
        case verifyDeletion
    }

    let reader: StreamReader
    private let simulation: Simulation
    private var step = Step.make
    private var key = ""
    private var path = ""
    private var isOver = false
    /// The losses of the engine when the present stream was asked for.
    private var losses = 0
    /// Whether the engine was losing frames when the present stream was made, which may be lost then.
    private var mayBeLost = false
    private(set) var made = 0
    private(set) var isDone = false
    private(set) var problems: [String] = []

    init(_ name: Int, _ contents: StreamReader.Contents, _ simulation: Simulation) {
        self.simulation = simulation
        reader = StreamReader(name, ["raw1", "raw2"], contents, simulation)
        reader.target = nil
        reader.isAllowed = { [weak self] in self?.isAllowed($0) ?? true }
        next()
    }

    /// Ends after the deletion of the present stream.
    func end() {
        isOver = true
        reader.end()
    }

    private func next() {
        let simulator = simulation.simulator
        simulator.schedule(after: .milliseconds(50) + simulator.delay(upTo: 500), as: Simulator.world) {
            [weak self] in self?.act()
        }
    }

    private func act() {
        switch step {
        // A request without an answer may have made a stream.
        case .make where isOver && key.isEmpty: isDone = true
        case .make: make()
        case .read(0) where !simulation.isCalm, .read where isOver:
            reader.target = nil
            step = .delete
            next()
        case .read(let left):
            step = .read(left: max(0, left - 1))
            if simulation.happens(300) { look() } else { next() }
        case .delete: delete()
        case .verifyDeletion: verifyDeletion()
        }
    }

    private func make() {
        if key.isEmpty {
            key = "prepared-\(reader.name)-\(made)"
            losses = simulation.losses
        }
        let body =
            #"{"sources":[{"upstream":"demo","mode":"RAW","dataAdapter":"RAW","items":["raw1","raw2"],"fields":["number"]}]}"#
        send("POST", "/v1/streams", body, key) { [self] status, json in
            if status == 201, let id = json["id"]?.string {
                (key, path, made) = ("", "/v1/streams/\(id)", made + 1)
                mayBeLost = losses != simulation.losses || simulation.isLosing
                reader.target = (path + "/events", "")
                step = .read(left: Int.random(in: 10...60, using: &simulation.simulator.generator))
            } else if status != 503, status != 0 {
                problems.append("prepared \(reader.name): POST: \(status)")
            }
        }
    }

    /// Whether the stream may be answered with a status.
    private func isAllowed(_ status: Int) -> Bool {
        // 200: one event `closing`. 409: a gateway has not noticed yet that its reader has left. An EventSource, which asks for
        // text/event-stream, does not try again after a 503.
        guard status == 404 else { return [200, 409].contains(status) }
        return isForgotten()
    }

    /// No gateway knows the stream; false if one has to.
    private func isForgotten() -> Bool {
        reader.target = nil
        step = .make
        return mayBeLost
    }

    private func look() {
        send("GET", path) { [self] status, _ in
            if status == 404, !isForgotten() { problems.append("prepared \(reader.name): GET \(path): 404") }
        }
    }

    private func delete() {
        send("DELETE", path) { [self] status, _ in
            // Without an answer it may be deleted, so that 404 is right the next time.
            if status == 204 || status == 404 { step = .verifyDeletion }
        }
    }

    private func verifyDeletion() {
        send("GET", path) { [self] status, _ in
            if status == 200, losses == simulation.losses {
                problems.append("prepared \(reader.name): \(path) is there")
            }
            if status == 404 || status == 200 { step = .make }
        }
    }

    private func send(
        _ method: String,
        _ path: String,
        _ body: String = "",
        _ key: String? = nil,
        _ done: @escaping (Int, JSONValue) -> Void
    ) {
        simulation.call(Simulation.request(method, path, body, key)) { [self] status, json in
            done(status, json)
            next()
        }
    }
}
