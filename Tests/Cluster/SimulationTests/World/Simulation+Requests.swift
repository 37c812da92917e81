import JSONText

@testable import MicroHTTPD

/// Requests of callers.
extension Simulation {
    static func request(
        _ method: String,
        _ path: String,
        _ body: String,
        _ key: String?,
        as caller: String = Simulation.admin
    ) -> HTTPRequest {
        var fields = HTTPFields([
            HTTPField("Host", "gateway.example"), HTTPField("Authorization", "Bearer \(caller)"),
        ])
        if !body.isEmpty { fields.append("Content-Type", "application/json") }
        if let key { fields.append("Idempotency-Key", key) }
        return HTTPRequest(method: method, rawPath: path, headers: fields, body: Array(body.utf8))
    }

    /// Sends a request to any gateway, and calls the body once with the status and the response; status 0: there is none.
    func call(_ request: HTTPRequest, _ done: @escaping (Int, JSONValue) -> Void) {
        guard let gateway = anyGateway() else { return done(0, .null) }
        var isAnswered = false
        let finish = { (status: Int, json: JSONValue) in
            if isAnswered { return }
            isAnswered = true
            done(status, json)
        }
        let abandon = gateway.send(request) { answer in
            guard case .response(let response) = answer else { return finish(0, .null) }
            finish(response.status, Self.json(of: response))
        }
        simulator.schedule(after: .seconds(15), as: Simulator.world) {
            if !isAnswered { abandon() }
            finish(0, .null)
        }
    }

    private static func json(of response: HTTPResponse) -> JSONValue {
        switch response.body {
        case .bytes(let bytes): (try? JSONValue(parsing: bytes)) ?? .null
        case .shared(let shared): (try? JSONValue(parsing: Array(shared.bytes))) ?? .null
        case .empty, .omitted: .null
        }
    }

    /// Removes the subscriptions and prepared streams that are left.
    func removeResources() {
        var open = 0
        for _ in 0..<2 {
            for kind in ["subscriptions", "streams"] {
                open += 1
                call(Self.request("GET", "/v1/\(kind)", "", nil)) { [self] _, json in
                    for id in (json[kind]?.array ?? []).compactMap({ $0["id"]?.string }) {
                        open += 1
                        call(Self.request("DELETE", "/v1/\(kind)/\(id)", "", nil)) { _, _ in open -= 1 }
                    }
                    open -= 1
                }
            }
            simulator.run(upTo: .seconds(30)) { open == 0 }
        }
    }
}
