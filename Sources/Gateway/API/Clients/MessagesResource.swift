internal import JSONText
internal import SessionCore
internal import SessionPool
internal import Synchronization

/// `/v1/clients/{id}/messages`.
struct MessagesResource: Sendable {
    let services: Services

    /// `POST /v1/clients/{id}/messages`.
    func send(_ call: Call) throws -> OperationResult {
        let client = try services.client(call)
        let order = try order(RequestBody.object(of: call.request))
        guard order.wantsOutcome, let wait = PreferHeader(call.header("Prefer")).wait, wait > 0 else {
            return .response(accepted(try client.send(order)))
        }
        // The outcome may come before `send` has told the id; then it waits here for it.
        let pending = PendingMessage(Settlement(call.port))
        let id = try client.send(order) { pending.ended($0, wait: wait) }
        pending.named(id, wait: wait)
        pending.settlement.settle(after: .seconds(wait), by: services.deadlines) { accepted(id) }
        return .deferred
    }

    private func accepted(_ id: String) -> Response {
        .json(202) { json in
            json.beginObject()
            json.member("id", id)
            json.endObject()
        }
    }

    private func order(_ object: JSONObject) throws(Problem) -> MessageSubmission {
        let refusals = Refusals()
        let reader = ObjectReader(object, refusals)
        reader.allow(only: ["text", "sequence", "delayTimeout", "enqueueWhileDisconnected", "outcome"])
        if !reader.has("text") { reader.miss("text") }
        var order = MessageSubmission(text: reader.string("text") ?? "")
        if let sequence = reader.optionalString("sequence") {
            order.sequence = sequence
            if let sequence, !Self.isSequence(sequence) {
                reader.refuse("sequence", "Letters, digits and underscores are expected, 200 at most.")
            }
        }
        if let value = reader.object["delayTimeout"], !value.isNull {
            order.delayTimeout = value.number?.doubleValue.flatMap { (0...Decimals.bound).contains($0) ? $0 : nil }
            if order.delayTimeout == nil {
                reader.refuse("delayTimeout", "A number of seconds not less than 0 is expected.")
            }
        }
        order.enqueueWhileDisconnected = reader.bool("enqueueWhileDisconnected") ?? false
        order.wantsOutcome = reader.bool("outcome") ?? true
        try refusals.finish()
        return order
    }

    private static func isSequence(_ text: String) -> Bool {
        (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "_")
            }
    }
}

/// Brings the id and the outcome of a message together, whichever comes first.
private final class PendingMessage: Sendable {
    let settlement: Settlement
    private let parts = Mutex<(id: String?, outcome: MessageOutcome?)>((nil, nil))

    init(_ settlement: Settlement) { self.settlement = settlement }

    func ended(_ outcome: MessageOutcome, wait: Int) {
        finish(
            wait,
            with: parts.withLock { parts in
                parts.outcome = outcome
                return parts
            }
        )
    }

    func named(_ id: String, wait: Int) {
        finish(
            wait,
            with: parts.withLock { parts in
                parts.id = id
                return parts
            }
        )
    }

    private func finish(_ wait: Int, with parts: (id: String?, outcome: MessageOutcome?)) {
        guard let id = parts.id, let outcome = parts.outcome else { return }
        settlement.settle { Response.json { $0.write(outcome, of: id) }.waited(wait) }
    }
}

extension JSONBytes {
    /// The members of the event `message-outcome`, but for the client.
    fileprivate mutating func write(_ outcome: MessageOutcome, of message: String) {
        beginObject()
        member("message", message)
        switch outcome {
        case .processed(let response):
            member("outcome", "processed")
            member("response", response)
        case .denied(let code, let error):
            member("outcome", "denied")
            member("code", code)
            member("error", error)
        case .discarded: member("outcome", "discarded")
        case .failed: member("outcome", "failed")
        case .aborted(let sentOnNetwork):
            member("outcome", "aborted")
            member("sentOnNetwork", sentOnNetwork)
        }
        endObject()
    }
}
