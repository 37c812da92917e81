internal import Gateway
internal import JSONText
internal import Primitives
internal import Replication

/// A request with an `Idempotency-Key` that the log lets this member perform.
struct BegunRequest: Sendable {
    /// The name of the request in the log.
    let name: RecordKey
    /// The generation of this member's reports in which the log accepted the request.
    let generation: Int
}

/// Requests with an `Idempotency-Key`: the log decides which member performs one, and has the response for the others.
extension ClusterNode {
    /// Performs a request that the log has let begin.
    typealias OnceHandler = @Sendable (Call, BegunRequest) async throws -> OperationResult

    /// Performs a request, or repeats its response.
    func performOnce(
        _ call: Call,
        _ key: IdempotencyStore.Key,
        _ handler: @escaping OnceHandler
    ) async throws -> OperationResult {
        // Neither an identity nor a target has a line break, and the key comes last.
        let name = requestCipher.digest(of: Array("\(key.caller ?? "")\n\(key.path)\n\(key.key)".utf8))
        let digest = requestCipher.digest(of: call.body)
        let caller = requestCipher.digest(of: Array(call.shareName.utf8)).high
        let deadline = clock() + configuration.replacementTime
        while true {
            guard let generation else { throw Problem.notInContact }
            let (expired, body) = state.withLock { state in
                let body = state.machine.ledger?.digest(digest, of: caller, for: name)
                return (state.machine.expiredPosition(of: name), body ?? digest)
            }
            let record = RequestRecord.begin(name, body: body, expired: expired)
            switch await decision(on: .request(name, body: body), by: .request(record)) {
            case .accepted:
                let begun = BegunRequest(name: name, generation: generation)
                // A task of its own goes on when the client leaves, which may repeat the request to receive the response.
                return .response(try await Task.immediate { try await performFirst(call, begun, handler) }.value)
            case .answered(let bytes): return .response(try replayed(bytes))
            case .refused:
                // Unless the first request, with another digest of the body, has come at the same time.
                let known = state.withLock { $0.machine.ledger?.digest(digest, of: caller, for: name) }
                if known ?? body == body { throw IdempotencyStore.otherRequest }
            case .unknown, nil: throw Problem.notInContact
            case .pending:
                // The deadline also applies if other members perform the request again and again and fail.
                guard await holds(until: deadline, { member, _ in member.ledger?.requests.isPending(name) != true })
                else { throw IdempotencyStore.inProgress }
            }
        }
    }

    private func replayed(_ bytes: [UInt8]) throws -> Response {
        guard let opened = cipher.decrypt(bytes), let response = try Wire.responses.value(opened).first
        else { throw Problem(.internal) }
        return response.with("Idempotency-Replayed", "true")
    }

    private func performFirst(_ call: Call, _ begun: BegunRequest, _ handler: OnceHandler) async throws -> Response {
        var noted = call
        noted.isPerformedOnce = true
        let response = try await noted.response { try await handler($0, begun) }
        // The next owner of a resource performs a misdirected request.
        if !IdempotencyStore.isKept(response) || response.status == Response.misdirected {
            write(.request(.abandon(begun.name)))
        } else if state.withLock({ $0.machine.ledger?.requests.isPending(begun.name) }) ?? false {
            // The log has the response to a change of resources with the change, unless another member has made that.
            write(answer(response, to: begun.name))
        }
        return response
    }

    /// The record of a response to a request with an `Idempotency-Key`, encrypted: it may hold a ticket.
    func answer(_ response: Response, to name: RecordKey) -> ClusterRecord {
        .request(.answer(name, cipher.encrypt(Wire.responses.bytes([response]))))
    }
}
