package import JSONText
internal import LightstreamerClient
package import SessionPool

/// `/v1/clients/{id}/options`: the connection options.
package struct ClientOptionsResource: Sendable {
    let services: Services

    package init(services: Services) { self.services = services }

    /// `GET /v1/clients/{id}/options`.
    func get(_ call: Call) throws -> OperationResult {
        .response(try response(services.controlledClient(call)).tagged(for: call))
    }

    /// `PATCH /v1/clients/{id}/options`.
    func patch(_ call: Call) throws -> OperationResult {
        let client = try services.controlledClient(call)
        let reader = try RequestBody.reader(of: call, types: RequestBody.patchTypes)
        // The options of the former owner may be the most headers, beside as many that were removed.
        let mostHeaders = ConnectionOption.mostHeaders * (call.isInherited ? 2 : 1)
        let patch = OptionsPatch(reader, defaults: defaults(client), mostHeaders: mostHeaders)
        try reader.refusals.finish()
        try client.changes.withLock { _ in
            try response(client).check(changeBy: call)
            try patch.apply(to: client.core.connectionOptions)
        }
        return .response(response(client).tagged())
    }

    /// The body of a PATCH that gives a new client the options of a client.
    package func patch(from client: PooledClient) -> JSONObject { OptionsView(client).patch(of: defaults(client)) }

    private func response(_ client: PooledClient) -> Response { .json { OptionsView(client).write(to: &$0) } }

    private func defaults(_ client: PooledClient) -> ConnectionOptionValues {
        client.upstream.flatMap { services.pool.settings.upstream($0) }?.options ?? services.defaultOptions
    }
}
