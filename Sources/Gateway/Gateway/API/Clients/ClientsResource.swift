internal import Changes
internal import JSONText
internal import LightstreamerClient
internal import SessionPool

/// `/v1/clients`: upstream sessions.
package struct ClientsResource: Sendable {
    let services: Services

    package init(services: Services) { self.services = services }

    /// `GET /v1/clients`.
    func list(_ call: Call) throws -> OperationResult {
        // Each client is shown with its subscriptions.
        try services.visiting(services.pool.resourceCount, call) {
            let permissions = services.permissions(call)
            let page = try Page(of: services.pool.clients().filter(permissions.sees), for: call) { $0.id.rawValue }
            return .response(page.response("clients") { services.write($1, permissions, to: &$0) })
        }
    }

    /// `POST /v1/clients`.
    func create(_ call: Call) async throws -> Response {
        let creation = try creation(call)
        // The admission is for the client with this id.
        let id = ClientID(RandomID.make(prefix: "c"))
        let client = try await services.coordination.admit(.newClient(id), for: call) {
            try make(creation, as: id, call)
        }
        guard creation.connects else { return created(client, call) }
        let connection = ConnectionResource(services: services)
        return try await connection.outcome(of: client, call, refused: { try? services.pool.deleteClient(client.id) }) {
            _ in created(client, call)
        }
    }

    /// Creates a client of a removed member again, which was created by the same request and does not connect.
    package func inherit(_ id: String, _ call: Call) throws { _ = try make(creation(call), as: ClientID(id), call) }

    /// What a request says about a new client.
    private typealias Creation = (specification: ClientSpecification, options: OptionsPatch?, connects: Bool)

    private func creation(_ call: Call) throws -> Creation {
        let reader = try RequestBody.reader(of: call)
        let specification = specification(reader)
        let connects = reader.bool("connect") ?? true
        let options = reader.object("options").map { OptionsPatch($0, defaults: defaults(specification)) }
        try reader.refusals.finish()
        guard let specification else { throw Problem(.invalidValue) }
        switch specification.target {
        case .upstream(let name):
            try ProblemDetails.lookUp(.body(at: ["upstream"])) { try services.permissions(call).check(upstream: name) }
        case .address:
            try ProblemDetails.lookUp(.body(at: ["serverAddress"])) { try services.permissions(call).checkAddress() }
        }
        return (specification, options, connects)
    }

    private func make(_ creation: Creation, as id: ClientID, _ call: Call) throws -> PooledClient {
        // The limit is checked when a client is created, not again when a member of the cluster inherits the client.
        let share = call.isInherited ? nil : services.configuration.pool.dedicatedClientsShare
        do {
            let client = try ProblemDetails.lookUp(.body(at: ["upstream"])) {
                try services.pool.createClient(creation.specification, as: id) { core in
                    try creation.options?.apply(to: core.connectionOptions)
                    // So that the owner sees the client as soon as it exists.
                    try services.access.owners.note(id, madeBy: call.caller, share: share)
                }
            }
            try services.checkPresent(call)
            if creation.connects { try client.connect() }
            return client
        } catch {
            try? services.pool.deleteClient(id)
            services.access.owners.forget(id)
            throw error
        }
    }

    /// `GET /v1/clients/{id}`.
    func get(_ call: Call) throws -> OperationResult {
        try services.visiting(services.pool.resourceCount, call) {
            .response(services.clientResponse(try services.client(call), call))
        }
    }

    /// `DELETE /v1/clients/{id}`.
    func delete(_ call: Call) throws -> OperationResult {
        // Its subscriptions are deleted with it.
        try services.visiting(services.pool.resourceCount, call) {
            let client = try services.dedicatedClient(call)
            try services.pool.deleteClient(client.id)
            // The pool reports the removal once the events of the client are delivered; the client stops to count now.
            services.coordination.made(.resourceRemoved(client.id.rawValue))
            return .response(Response(status: 204))
        }
    }

    private func created(_ client: PooledClient, _ call: Call) -> Response {
        services.clientResponse(client, call, status: 201).with("Location", "/v1/clients/\(client.id.rawValue)")
    }

    private func specification(_ reader: ObjectReader) -> ClientSpecification? {
        let ofAddress: Set<String> = ["serverAddress", "adapterSet", "user", "password"]
        if reader.has("upstream") {
            for name in ofAddress.sorted() where reader.has(name) {
                reader.refuse(name, "Either upstream or \(name) is expected, not both.")
            }
            reader.allow(only: ofAddress.union(["upstream", "options", "connect"]))
            return reader.name("upstream").map { ClientSpecification(target: .upstream($0)) }
        }
        reader.allow(only: ofAddress.union(["options", "connect"]))
        guard reader.has("serverAddress") else {
            reader.missing("upstream", "upstream or serverAddress is required.")
            return nil
        }
        guard let address = reader.string("serverAddress") else { return nil }
        if !ServerAddressRule.admits(address) { return reader.refused("serverAddress", ServerAddressRule.sentence) }
        var specification = ClientSpecification(target: .address(address))
        specification.adapterSet = reader.optionalString("adapterSet") ?? nil
        specification.user = reader.optionalString("user") ?? nil
        specification.password = reader.optionalString("password") ?? nil
        return specification
    }

    /// The option values that null restores in a new client.
    private func defaults(_ specification: ClientSpecification?) -> ConnectionOptionValues {
        if case .upstream(let name) = specification?.target, let upstream = services.pool.settings.upstream(name) {
            return upstream.options
        }
        return services.defaultOptions
    }
}
