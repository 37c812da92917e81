internal import JSONText
internal import SessionCore
internal import SessionPool
internal import Synchronization

/// `/health`, `/health/live` and `/health/ready`.
struct HealthResource: Sendable {
    let services: Services

    /// `GET /health/live`: never depends on an upstream.
    func live(_ call: Call) throws -> OperationResult {
        let limit = services.configuration.stallTimeout
        let stalled = services.process.watchdog.stalled(for: limit, at: services.clock())
        guard limit == .zero || stalled.isEmpty else {
            let names = stalled.prefix(10).joined(separator: ", ")
            throw Problem(.unavailable, detail: "Some parts of the process have not come round: \(names).")
        }
        return .response(status("live"))
    }

    /// `GET /health/ready`.
    func ready(_ call: Call) throws -> OperationResult {
        if services.process.isStopping { throw Problem.stopping }
        if services.coordination.contact == .none { throw Problem.notInContact }
        // Without names: the response needs no credentials.
        if isUnconnected { throw Problem(.unavailable, detail: "No upstream is connected.") }
        return .response(status("ready"))
    }

    /// `GET /health`.
    func all(_ call: Call) throws -> OperationResult {
        let clients = services.pool.clients()
        let isReady = !isUnconnected && services.coordination.contact != .none
        return .response(
            .object { json in
                json.member("status", services.process.isStopping ? "stopping" : isReady ? "ready" : "not-ready")
                json.member("version", GatewayVersion.text)
                json.member("uptime", (services.clock() - services.process.startedAt).roundedSeconds)
                json.member("clients", clients.count)
                json.member("subscriptions", services.pool.resourceCount)
                json.member("streams", services.streams.count)
                let permissions = services.permissions(call)
                let upstreams = services.pool.settings.upstreams.map(\.name).filter(permissions.sees(upstream:))
                json.objects("upstreams", of: upstreams) { json, name in
                    write(name, clients.filter { $0.upstream == name }, permissions, to: &json)
                }
                if let memory = services.memory {
                    json.key("memory")
                    memory().write(to: &json)
                }
                services.coordination.figures?.write(to: &json)
            }
        )
    }

    /// Whether there are pooled sessions and none of them is connected, if the configuration makes readiness depend on that. The
    /// failure of one upstream does not make the gateway unready for the readers of the others.
    private var isUnconnected: Bool {
        guard services.configuration.readiness == .connected else { return false }
        let pooled = services.pool.clients().filter { !$0.isDedicated }
        return !pooled.isEmpty && !pooled.contains { $0.core.status.isConnected }
    }

    private func status(_ word: String) -> Response { .json { $0.value(["status": .string(word)]) } }

    private func write(
        _ name: String,
        _ clients: [PooledClient],
        _ permissions: Permissions,
        to json: inout JSONBytes
    ) {
        let statuses = clients.map(\.core.status)
        json.member("name", name)
        json.member("sessions", clients.count)
        json.member("connected", statuses.count { $0.isConnected })
        json.member("statuses", Optional(statuses.map(\.rawValue)))
        json.lastFailure(of: services.failedClient(of: name, among: clients, permissions))
        if let values = services.pool.settings.upstreamValues.first(where: { $0.name == name })?.values {
            json.object("values") { json in
                json.member("used", values.used)
                json.member("limit", values.limit == .max ? nil : values.limit)
            }
        }
    }
}

final class ProcessState: Sendable {
    let startedAt: Moment
    /// Notices threads and tasks that do not come round.
    let watchdog = Watchdog()
    private let stopping = Atomic<Bool>(false)

    init(startedAt: Moment) { self.startedAt = startedAt }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    func stop() { stopping.store(true, ordering: .relaxed) }
}
