internal import SessionPool

/// `/v1/clients/{id}/connect` and `…/disconnect`.
struct ConnectionResource: Sendable {
    let services: Services

    /// `POST /v1/clients/{id}/connect`.
    func connect(_ call: Call) async throws -> Response {
        let client = try services.controlledClient(call)
        try RequestBody.none(of: call)
        try client.connect()
        return try await outcome(of: client, call) { isConnected in
            services.clientResponse(client, call, status: isConnected ? 200 : 202)
        }
    }

    /// `POST /v1/clients/{id}/disconnect`.
    func disconnect(_ call: Call) async throws -> Response {
        let client = try services.dedicatedClient(call)
        try RequestBody.none(of: call)
        client.disconnect()
        guard let wait = PreferHeader(call.header("Prefer")).wait,
            try await situation(of: client, call, within: wait, until: { $0.status == .disconnected }) != nil
        else { return services.clientResponse(client, call, status: 202) }
        return services.clientResponse(client, call).waited(wait)
    }

    /// The response for a client, once the client is connected, disconnected by another request or deleted, or the server has
    /// rejected the session, if the request waits for that.
    func outcome(
        of client: PooledClient,
        _ call: Call,
        refused: () -> Void = {},
        _ shown: (_ isConnected: Bool) -> Response
    ) async throws -> Response {
        guard let wait = PreferHeader(call.header("Prefer")).wait else { return shown(false) }
        let disconnects = client.situation.disconnects
        let situation = try await situation(of: client, call, within: wait) { situation in
            if situation.isConnected || situation.refusal != nil || client.isClosing { return true }
            return situation.disconnects != disconnects && situation.status == .disconnected
        }
        guard let situation else { return shown(false) }
        if let refusal = situation.refusal {
            refused()
            return ProblemDetails.response(to: call, refusedBy: refusal, of: .session).waited(wait)
        }
        if situation.isConnected { return shown(true).waited(wait) }
        if !client.isClosing { return shown(false) }
        // Another request has deleted it.
        let id = client.id.rawValue
        return services.response(to: call, waiting: wait, for: .unknownClient(id), id)
    }

    /// Waits until the situation of a client satisfies a condition; nil after some seconds.
    private func situation(
        of client: PooledClient,
        _ call: Call,
        within wait: Int,
        until isDecided: @escaping @Sendable (ClientSituation) -> Bool
    ) async throws -> ClientSituation? {
        try await services.wait(call, upTo: wait, on: client.watchers) {
            let situation = client.situation
            return isDecided(situation) ? situation : nil
        }
    }
}

extension ClientSituation {
    /// Whether the client has a session and a transport.
    fileprivate var isConnected: Bool { status.isConnected && status != .connectedStreamSensing }
}
