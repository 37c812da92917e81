internal import JSONText

/// `/v1/tickets`: credentials for an `EventSource`, which cannot send an `Authorization` header.
struct TicketsResource: Sendable {
    let services: Services

    /// `POST /v1/tickets`.
    func create(_ call: Call) throws -> OperationResult {
        try RequestBody.none(of: call)
        guard let ticket = try services.access.ticket(for: call.caller) else {
            throw Problem(.overQuota, detail: "Too many tickets are unused.")
        }
        // A ticket gives no more rights than the token of its caller, which may expire first.
        let lifetime = min(ticket.lifetime, services.access.remaining(of: call.caller) ?? ticket.lifetime)
        let response = Response.object(201) { json in
            json.member("ticket", ticket.text)
            json.member("expiresIn", lifetime.roundedSeconds)
        }
        return .response(response)
    }
}
