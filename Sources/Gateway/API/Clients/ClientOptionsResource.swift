internal import LightstreamerClient
internal import SessionPool

/// `/v1/clients/{id}/options`: the connection options.
struct ClientOptionsResource: Sendable {
    let services: Services

    /// `GET /v1/clients/{id}/options`.
    func get(_ call: Call) throws -> Reply {
        .answer(answer(try services.client(call)).tagged(ifNoneMatch: call.header("If-None-Match")))
    }

    /// `PATCH /v1/clients/{id}/options`.
    func patch(_ call: Call) throws -> Reply {
        let client = try services.client(call)
        let body = try RequestBody.object(of: call.request, types: RequestBody.patchTypes)
        let refusals = Refusals()
        let patch = OptionsPatch(ObjectReader(body, refusals), defaults: defaults(client))
        try refusals.finish()
        try answer(client).check(ifMatch: call.header("If-Match"))
        try patch.apply(to: client.core.connectionOptions)
        return .answer(answer(client).tagged(ifNoneMatch: nil))
    }

    private func answer(_ client: PooledClient) -> Answer {
        .json { OptionsView.write(client.core.connectionOptions, to: &$0) }
    }

    private func defaults(_ client: PooledClient) -> ConnectionOptionValues {
        client.upstream.flatMap { services.pool.upstream($0) }?.options ?? services.defaultOptions
    }
}
