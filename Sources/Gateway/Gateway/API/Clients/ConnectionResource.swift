internal import SessionPool

/// `/v1/clients/{id}/connect` and `…/disconnect`.
struct ConnectionResource: Sendable {
    let services: Services

    /// `POST /v1/clients/{id}/connect`.
    func connect(_ call: Call) throws -> OperationResult {
        let client = try services.controlledClient(call)
        try RequestBody.none(of: call)
        try client.connect()
        guard let wait = PreferHeader(call.header("Prefer")).wait else {
            return .response(services.clientResponse(client, call, status: 202))
        }
        return try outcome(
            of: client,
            call,
            within: wait,
            connected: { services.clientResponse(client, call) },
            refused: {},
            timedOut: { services.clientResponse(client, call, status: 202) }
        )
    }

    /// `POST /v1/clients/{id}/disconnect`.
    func disconnect(_ call: Call) throws -> OperationResult {
        let client = try services.dedicatedClient(call)
        try RequestBody.none(of: call)
        client.core.disconnect()
        guard let wait = PreferHeader(call.header("Prefer")).wait else {
            return .response(services.clientResponse(client, call, status: 202))
        }
        let services = services
        return try services.wait(
            call,
            upTo: wait,
            on: client.watchers,
            present: { client.situation },
            decide: { situation in
                situation.status == .disconnected ? services.clientResponse(client, call).waited(wait) : nil
            },
            timedOut: { services.clientResponse(client, call, status: 202) }
        )
    }

    /// Waits until the client is connected or the server has rejected the session.
    func outcome(
        of client: PooledClient,
        _ call: Call,
        within seconds: Int,
        connected: @escaping @Sendable () -> Response,
        refused: @escaping @Sendable () -> Void,
        timedOut: @escaping @Sendable () -> Response
    ) throws -> OperationResult {
        try services.wait(
            call,
            upTo: seconds,
            on: client.watchers,
            present: { client.situation },
            decide: { situation in
                if situation.status.isConnected, situation.status != .connectedStreamSensing {
                    return connected().waited(seconds)
                }
                guard situation.status == .disconnected, let refusal = situation.lastServerError else { return nil }
                refused()
                return ProblemDetails.response(to: call, refusedBy: refusal, of: .session).waited(seconds)
            },
            timedOut: timedOut
        )
    }
}
