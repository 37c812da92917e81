internal import Changes
internal import JSONText
internal import SessionCore
internal import SessionPool

/// `/v1/clients/{id}/messages` and `/v1/messages`.
struct MessagesResource: Sendable {
    let services: Services

    /// `POST /v1/clients/{id}/messages`.
    func send(_ call: Call) async throws -> Response {
        let client = try services.client(call)
        return try await send(try message(call), through: client, call)
    }

    /// How long a session that was opened for a message is kept at least.
    private static let messageTime = Duration.seconds(30)

    /// `POST /v1/messages`: through the pooled session of an upstream, which is opened if there is none.
    func sendToUpstream(_ call: Call) async throws -> Response {
        let message = try message(call, enqueues: true)
        var reader = QueryReader(call.query)
        let defaults = services.sourceDefaults
        let named = reader.name("upstream")
        if named == nil, !call.query.has("upstream"), defaults.upstream == nil {
            reader.refuse("upstream", defaults.upstreamRule, as: .missingMember)
        }
        try reader.finish()
        guard let upstream = named ?? defaults.upstream else { throw Problem(.invalidValue) }
        let session = try ProblemDetails.lookUp(call.query.has("upstream") ? .parameter("upstream") : nil) {
            try services.permissions(call).check(upstream: upstream)
            return try services.pool.settings.sessionKey(upstream: upstream)
        }
        let client = try await services.coordination.admit(.activation, for: call) {
            try services.pool.messenger(session, for: Self.messageTime)
        }
        return try await send(message, through: client, call)
    }

    private func send(
        _ message: MessageSubmission,
        through client: PooledClient,
        _ call: Call
    ) async throws -> Response {
        let claim = try services.messages.claim(
            message.text.utf8.count,
            for: call.caller,
            limit: services.configuration.pool.maxMessageBytes
        )
        guard message.wantsOutcome, let wait = PreferHeader(call.header("Prefer")).wait, wait > 0 else {
            return accepted(try client.send(message, retaining: claim))
        }
        var id = ""
        let outcome: MessageOutcome? = try await services.wait(call, upTo: .seconds(wait)) { awaited in
            id = try client.send(message, retaining: claim) { awaited.end(.success($1)) }
        }
        guard let outcome else { return accepted(id) }
        let response = Response.object { json in
            json.member("message", id)
            json.writeMembers(of: outcome)
        }
        return response.waited(wait)
    }

    private func accepted(_ id: String) -> Response { .json(202) { $0.value(["id": .string(id)]) } }

    /// Reads a message; `enqueues` is the default of `enqueueWhileDisconnected`, true where the query names the upstream.
    private func message(_ call: Call, enqueues: Bool = false) throws(Problem) -> MessageSubmission {
        let reader = try RequestBody.reader(of: call)
        var members: Set = ["text", "sequence", "delayTimeout", "enqueueWhileDisconnected", "outcome"]
        if enqueues, reader.has("upstream") {
            // Other bodies have such a member.
            members.insert("upstream")
            reader.refusals.refuse(["upstream"], as: .unknownMember, "It is a parameter of the query: ?upstream=NAME.")
        }
        reader.allow(only: members)
        if !reader.has("text") { reader.missing("text") }
        var message = MessageSubmission(text: reader.string("text") ?? "")
        if let sequence = reader.optionalString("sequence") {
            message.sequence = sequence
            if let sequence, !sequence.isLettersDigits(and: "_", length: 1...200) {
                reader.refuse("sequence", "Letters, digits and underscores are expected, 200 at most.")
            }
        }
        if let value = reader.object["delayTimeout"], !value.isNull {
            message.delayTimeout = value.number?.doubleValue.flatMap { (0...Decimals.bound).contains($0) ? $0 : nil }
            if message.delayTimeout == nil {
                let rule = "A number of seconds not less than 0 is expected, \(Decimals.most) at most."
                reader.refuse("delayTimeout", rule)
            }
        }
        if message.delayTimeout != nil, message.sequence == nil {
            reader.refuse("delayTimeout", "Only messages of a sequence wait for earlier ones: sequence is required.")
        }
        message.enqueueWhileDisconnected = reader.bool("enqueueWhileDisconnected") ?? enqueues
        message.wantsOutcome = reader.bool("outcome") ?? true
        message.sender = call.caller.account
        try reader.refusals.finish()
        return message
    }
}
