internal import SessionPool

/// `/v1/clients/{id}/device` and `…/badge-reset`: the legacy push interface. Outcomes are legacy events of the client.
struct PushResource: Sendable {
    let services: Services

    /// `PUT /v1/clients/{id}/device`.
    func register(_ call: Call) throws -> OperationResult {
        let client = try services.dedicatedClient(call)
        let reader = try RequestBody.reader(of: call)
        reader.allow(only: ["token", "applicationId", "platform", "previousToken"])
        for name in ["token", "applicationId"] where !reader.has(name) { reader.missing(name) }
        let token = reader.name("token")
        let application = reader.name("applicationId")
        let platform = platform(reader)
        let previous = reader.optionalString("previousToken", mayBeEmpty: false) ?? nil
        try reader.refusals.finish()
        guard let token, let application else { throw Problem(.invalidValue) }
        client.core.registerDeviceToken(token, platform: platform, applicationID: application, previousToken: previous)
        return .response(services.clientResponse(client, call, status: 202))
    }

    /// `POST /v1/clients/{id}/badge-reset`.
    func resetBadge(_ call: Call) throws -> OperationResult {
        let client = try services.dedicatedClient(call)
        try RequestBody.none(of: call)
        client.core.resetBadge()
        return .response(services.clientResponse(client, call, status: 202))
    }

    private func platform(_ reader: ObjectReader) -> String {
        let platforms = ["Apple", "Google"]
        guard let platform = reader.string("platform") else { return platforms[0] }
        if !platforms.contains(platform) { reader.refuse("platform", "Apple or Google is expected.") }
        return platform
    }
}
