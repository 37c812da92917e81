/// `control`: one operation on a session.
package struct ControlRequest: Sendable, Hashable {
    /// The identifier that the response echoes.
    package var requestID: RequestID
    /// The session; nil: the one of the query string, or the one last bound to the WebSocket.
    package var sessionID: SessionID?
    /// The operation.
    package var operation: ControlOperation

    /// A request.
    package init(requestID: RequestID, sessionID: SessionID? = nil, operation: ControlOperation) {
        self.requestID = requestID
        self.sessionID = sessionID
        self.operation = operation
    }

    func write(to line: inout ParameterWriter) {
        line.add(.session, sessionID?.rawValue)
        operation.write(to: &line, requestID: requestID)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        var parameters = parameters
        requestID = try parameters.takeRequestID()
        sessionID = parameters.sessionID
        operation = try ControlOperation(reading: parameters)
    }
}

/// The operation of a `control` request (`LS_op`).
package enum ControlOperation: Sendable, Hashable {
    /// `add`.
    case add(AddRequest)
    /// `delete`.
    case delete(DeleteRequest)
    /// `reconf`.
    case reconf(ReconfRequest)
    /// `constrain`.
    case constrain(ConstrainRequest)
    /// `force_rebind`.
    case forceRebind(ForceRebindRequest)
    /// `destroy`.
    case destroy(DestroyRequest)
    /// `register`.
    case mpnRegister(MPNRegisterRequest)
    /// `reset_badge`.
    case mpnResetBadge(MPNResetBadgeRequest)

    /// Whether a WebSocket server confirms with `REQOK`; over HTTP it always does.
    package var isAcknowledged: Bool {
        switch self {
        case .add(let request): request.isAcknowledged
        case .delete(let request): request.isAcknowledged
        case .reconf, .constrain, .forceRebind, .destroy, .mpnRegister, .mpnResetBadge: true
        }
    }

    func write(to line: inout ParameterWriter, requestID: RequestID?) {
        line.add(.requestID, requestID?.rawValue)
        switch self {
        case .add(let request): request.write(to: &line)
        case .delete(let request): request.write(to: &line)
        case .reconf(let request): request.write(to: &line)
        case .constrain(let request): request.write(to: &line)
        case .forceRebind(let request): request.write(to: &line)
        case .destroy(let request): request.write(to: &line)
        case .mpnRegister(let request): request.write(to: &line)
        case .mpnResetBadge(let request): request.write(to: &line)
        }
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        switch try parameters.required(.operation) {
        case AddRequest.operation: self = .add(try AddRequest(reading: parameters))
        case DeleteRequest.operation: self = .delete(try DeleteRequest(reading: parameters))
        case ReconfRequest.operation: self = .reconf(try ReconfRequest(reading: parameters))
        case ConstrainRequest.operation: self = .constrain(try ConstrainRequest(reading: parameters))
        case ForceRebindRequest.operation: self = .forceRebind(try ForceRebindRequest(reading: parameters))
        case DestroyRequest.operation: self = .destroy(try DestroyRequest(reading: parameters))
        case MPNRegisterRequest.operation: self = .mpnRegister(try MPNRegisterRequest(reading: parameters))
        case MPNResetBadgeRequest.operation: self = .mpnResetBadge(try MPNResetBadgeRequest(reading: parameters))
        case let operation where MPNSubscriptionOperations.contains(operation):
            throw RequestRejection(parameters.carrier, code: 40, message: "MPN Module disabled")
        default: throw RequestRejection(parameters.carrier, code: 67, message: "Unknown LS_op")
        }
    }
}
