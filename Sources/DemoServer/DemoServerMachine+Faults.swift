extension DemoServerMachine {
    /// Installs faults; those for `FaultMoment.now` take effect at once.
    package mutating func faultsInstalled(_ faults: [Fault], at now: Duration) -> [ServerAction] {
        context.now = now
        install(faults)
        return settle()
    }

    /// Removes all faults that have not taken effect yet.
    package mutating func faultsCleared(at now: Duration) -> [ServerAction] {
        context.now = now
        context.faults.clear()
        return settle()
    }

    mutating func install(_ faults: [Fault]) {
        for fault in faults {
            guard fault.moment == .now else {
                context.faults.install(fault)
                continue
            }
            for handle in sessions.keys.sorted() {
                if case .end(let code, let message) = fault.effect {
                    sessions[handle]?.end(SessionEnd(code: code, message: message), &context)
                } else {
                    sessions[handle]?.apply(fault.effect, &context)
                }
            }
        }
    }

    /// The response to the test interface; nil if the path is not part of it, or clients may not use it.
    ///
    /// `POST /demo/faults` installs a `FaultScript`, `DELETE /demo/faults` removes all faults, `GET /demo/census`
    /// returns the counts of `ServerCensus`, `POST /v1/updates` publishes an `InjectedUpdate`.
    mutating func testResponse(to request: HTTPRequestText) -> HTTPAnswer? {
        guard context.configuration.acceptsFaultsFromClients else { return nil }
        switch (request.method, request.path) {
        case ("POST", "/demo/faults"):
            do throws(FaultScriptError) {
                let faults = try FaultScript.parse(String(decoding: request.body, as: UTF8.self))
                install(faults)
                return HTTPAnswer(body: Array("\(faults.count)\n".utf8))
            } catch {
                return HTTPAnswer(status: 400, body: Array("\(error.description)\n".utf8))
            }
        case ("POST", "/v1/updates"):
            do throws(InjectionRefusal) {
                let update = try InjectedUpdate(request.body)
                let events = try feeds.injected(update)
                publish(events)
                let readers = events.flatMap { channels.entries(for: .init(feed: $0.feed, name: $0.event.item)) }
                return HTTPAnswer(body: Array("{\"subscriptions\":\(readers.count)}\n".utf8))
            } catch {
                return HTTPAnswer(status: error.status, body: Array("\(error.reason)\n".utf8))
            }
        case ("DELETE", "/demo/faults"):
            context.faults.clear()
            return HTTPAnswer(body: Array("0\n".utf8))
        case ("GET", "/demo/census"):
            let census = census
            let lines = [
                "sessions \(census.sessions)", "bound \(census.boundSessions)", "connections \(census.connections)",
                "subscriptions \(census.subscriptions)", "bound-subscriptions \(census.boundSubscriptions)",
                "notifications \(census.notifications)", "",
            ]
            return HTTPAnswer(body: Array(lines.joined(separator: "\n").utf8))
        default:
            return nil
        }
    }
}
