internal import JSONText
internal import LightstreamerClient
internal import SessionPool

/// `/v1/clients/{id}/details`: the connection details.
struct ClientDetailsResource: Sendable {
    let services: Services

    /// `GET /v1/clients/{id}/details`.
    func get(_ call: Call) throws -> OperationResult {
        .response(try response(services.controlledClient(call)).tagged(for: call))
    }

    /// `PATCH /v1/clients/{id}/details`. Checks validity first, then rights, then the state of the client.
    func patch(_ call: Call) throws -> OperationResult {
        let client = try services.controlledClient(call)
        let reader = try RequestBody.reader(of: call, types: RequestBody.patchTypes)
        reader.allow(
            only: ["serverAddress", "adapterSet", "user", "password", "certificatePins"],
            readOnly: ["sessionId", "serverInstanceAddress", "serverSocketName", "clientIp"]
        )
        let address = reader.optionalString("serverAddress")
        if case .some(.some(let text)) = address, !ServerAddressRule.admits(text) {
            reader.refuse("serverAddress", ServerAddressRule.sentence)
        }
        let adapterSet = reader.optionalString("adapterSet")
        let user = reader.optionalString("user")
        let password = reader.optionalString("password")
        let pins = pins(reader)
        try reader.refusals.finish()
        if let name = ["serverAddress", "adapterSet"].first(where: reader.has) {
            try ProblemDetails.lookUp(.body(at: [name])) { try services.permissions(call).checkAddress() }
        }
        try checkAddress(address, of: client)
        guard client.isDedicated else {
            throw Problem(.notDedicated, detail: "The details of a pooled client are those of its upstream.")
        }
        try client.changes.withLock { _ in
            try response(client).check(changeBy: call)
            try client.core.connectionDetails.update(certificatePins: pins) { details in
                if let address { details.serverAddress = address }
                if let adapterSet { details.adapterSet = adapterSet }
                if let user { details.user = user }
                if let password { details.password = password }
            }
        }
        return .response(response(client).tagged())
    }

    private func response(_ client: PooledClient) -> Response {
        .json { DetailsView.write(client.core.connectionDetails, to: &$0) }
    }

    /// The certificate pins; nil if they are missing or invalid.
    private func pins(_ reader: ObjectReader) -> [String]? {
        guard let value = reader.object["certificatePins"] else { return nil }
        if value.isNull { return [] }
        guard let elements = value.array, elements.count <= 100 else {
            return reader.refused("certificatePins", "A list of at most 100 strings, or null, is expected.")
        }
        let probe = try? LightstreamerClient()
        var pins: [String] = []
        for (index, element) in elements.enumerated() {
            guard let pin = element.string,
                (try? probe?.connectionDetails.setCertificatePins([pin])) != nil
            else {
                let location = reader.path + ["certificatePins", "\(index)"]
                reader.refusals.refuse(location, "sha256/ or sha1/ and the base64 digest of a public key are expected.")
                continue
            }
            pins.append(pin)
        }
        return pins
    }

    /// Rejects an address that the configuration does not allow, and any other address for a client of a configured
    /// upstream: its user, password, headers and cookies belong to the configured address.
    private func checkAddress(_ address: String??, of client: PooledClient) throws {
        guard let address else { return }
        if let address {
            if client.upstream != nil, address == client.core.connectionDetails.serverAddress { return }
            guard services.pool.settings.configuration.allowedAddresses.allows(address) else {
                throw PoolError.addressNotAllowed(address)
            }
        }
        guard let upstream = client.upstream else { return }
        let rule = "The client has the credentials of the upstream \"\(upstream)\": its address cannot be changed."
        throw Problem(.lifecycle, detail: rule).at(.body(at: ["serverAddress"]))
    }
}

/// The JSON form of connection details, without the password.
enum DetailsView {
    static func write(_ details: ConnectionDetails, to json: inout JSONBytes) {
        json.beginObject()
        json.member("serverAddress", details.serverAddress)
        json.member("adapterSet", details.adapterSet)
        json.member("user", details.user)
        json.member("certificatePins", details.certificatePins)
        writeSession(details, to: &json)
        json.endObject()
    }

    /// The four details of the session. The session id allows its holder to take over or destroy the session: it is
    /// null unless the caller controls the client.
    static func writeSession(_ details: ConnectionDetails, showsID: Bool = true, to json: inout JSONBytes) {
        json.member("sessionId", showsID ? details.sessionId : nil)
        json.member("serverInstanceAddress", details.serverInstanceAddress)
        json.member("serverSocketName", details.serverSocketName)
        json.member("clientIp", details.clientIp)
    }
}

/// The rule of the class reference for server addresses.
enum ServerAddressRule {
    static let sentence = "An http or https URL without a query, of at most \(longest) characters, is expected."

    /// The longest address, in bytes.
    private static let longest = 2048

    static func admits(_ address: String) -> Bool {
        address.utf8.count <= longest && (try? LightstreamerClient(serverAddress: address)) != nil
    }
}
