/// One request of a client: one parameter line on the wire, or several if `create_session` carries operations.
package enum ClientRequest: Sendable, Hashable {
    case createSession(CreateSessionRequest)
    case bindSession(BindSessionRequest)
    case control(ControlRequest)
    case message(MessageRequest)
    case heartbeat(HeartbeatRequest)
    case wsok

    package var name: RequestName {
        switch self {
        case .createSession: .createSession
        case .bindSession: .bindSession
        case .control: .control
        case .message: .msg
        case .heartbeat: .heartbeat
        case .wsok: .wsok
        }
    }

    /// Appends the parameter line without a CR-LF at the end.
    package func encode(into bytes: inout [UInt8]) {
        var writer = ParameterWriter(taking: &bytes)
        switch self {
        case .createSession(let request): request.write(to: &writer)
        case .bindSession(let request): request.write(to: &writer)
        case .control(let request): request.write(to: &writer)
        case .message(let request): request.write(to: &writer)
        case .heartbeat(let request): request.write(to: &writer)
        case .wsok: break
        }
        writer.give(back: &bytes)
    }

    /// The parameter line.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return bytes
    }

    /// The complete WebSocket message.
    package var webSocketMessage: [UInt8] {
        var bytes = Array(name.rawValue.utf8)
        if self == .wsok { return bytes }
        bytes.append(contentsOf: "\r\n".utf8)
        let start = bytes.count
        encode(into: &bytes)
        if bytes.count == start { bytes.append(contentsOf: "\r\n".utf8) }
        return bytes
    }

    /// The complete body of an HTTP request.
    package var httpBody: [UInt8] {
        var bytes = encoded
        if bytes.isEmpty { bytes.append(contentsOf: "\r\n".utf8) }
        return bytes
    }
}

/// `control`: one operation on a session.
package struct ControlRequest: Sendable, Hashable {
    /// The identifier that the response echoes.
    package var requestID: RequestID
    /// The session; nil: the one of the query string, or the one last bound to the WebSocket.
    package var sessionID: SessionID?
    package var operation: ControlOperation

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
    case add(AddRequest)
    case delete(DeleteRequest)
    case reconf(ReconfRequest)
    case constrain(ConstrainRequest)
    case forceRebind(ForceRebindRequest)
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
        let name = try parameters.required(.operation)
        let unknown = RequestRejection(parameters.carrier, code: 67, message: "Unknown LS_op")
        var parameters = parameters
        parameters.operationKnown(
            isMobilePush: [MPNRegisterRequest.operation, MPNResetBadgeRequest.operation].contains(name)
        )
        switch name {
        case AddRequest.operation: self = .add(try AddRequest(reading: parameters))
        case DeleteRequest.operation: self = .delete(try DeleteRequest(reading: parameters))
        case ReconfRequest.operation: self = .reconf(try ReconfRequest(reading: parameters))
        case ConstrainRequest.operation: self = .constrain(try ConstrainRequest(reading: parameters))
        case ForceRebindRequest.operation: self = .forceRebind(try ForceRebindRequest(reading: parameters))
        case DestroyRequest.operation: self = .destroy(try DestroyRequest(reading: parameters))
        case MPNRegisterRequest.operation: self = .mpnRegister(try MPNRegisterRequest(reading: parameters))
        case MPNResetBadgeRequest.operation: self = .mpnResetBadge(try MPNResetBadgeRequest(reading: parameters))
        // Of subscriptions to mobile push notifications; refused as by a server without the module: after an unknown
        // operation, code 67, official clients would end the session.
        case "activate", "pn_reconf", "deactivate":
            throw RequestRejection(parameters.carrier, code: 40, message: "MPN Module disabled")
        default: throw unknown
        }
    }
}

/// Requests of one name that are sent together, as one WebSocket message or HTTP body within the request limit.
package struct RequestBatch: Sendable, Hashable {
    /// The carrier of the batch, which decides whether the request name is part of its bytes.
    package enum Form: Sendable, Hashable {
        /// A WebSocket message: the request name, then the lines.
        case webSocket
        /// The body of an HTTP request: the lines alone.
        case http
    }

    package let name: RequestName
    package private(set) var bytes: [UInt8]
    package private(set) var count: Int
    private let limit: Int

    /// A batch with one request, even if that exceeds the limit.
    package init(_ first: ClientRequest, form: Form, limit: Int) {
        name = first.name
        self.limit = limit
        bytes = form == .webSocket ? first.webSocketMessage : first.httpBody
        count = 1
    }

    /// Adds a request as another line; false if its name differs or allows no batches, or if it does not fit.
    package mutating func append(_ request: ClientRequest) -> Bool {
        guard request.name == name, name.allowsBatch else { return false }
        let before = bytes.count
        bytes.append(contentsOf: "\r\n".utf8)
        request.encode(into: &bytes)
        if bytes.count > limit {
            bytes.removeSubrange(before...)
            return false
        }
        count += 1
        return true
    }
}

/// Collects pending requests into one batch within the request limit of the server.
package struct BatchBuilder {
    package let form: RequestBatch.Form
    /// The requests so far; nil: none.
    package private(set) var batch: RequestBatch?
    /// The size in bytes of a first request that exceeds the limit and is not to be sent; nil: there is none.
    package private(set) var oversize: Int?
    private let limit: Int
    private let batchLimit: Int
    private let refusesOversized: Bool

    /// No requests. A limit of 0 or below is none. Without `refusesOversized` a first request may exceed the limit.
    /// `batchLimit`: the size up to which further requests are added; the first request may exceed the size in any case.
    package init(_ form: RequestBatch.Form, limit: Int, batchLimit: Int, refusesOversized: Bool) {
        self.form = form
        self.limit = limit
        self.batchLimit = limit > 0 ? min(limit, batchLimit) : batchLimit
        self.refusesOversized = refusesOversized
    }

    /// Adds a request; false if the request stays pending.
    package mutating func add(_ request: ClientRequest) -> Bool {
        if batch != nil { return batch?.append(request) ?? false }
        let first = RequestBatch(request, form: form, limit: batchLimit)
        if refusesOversized, limit > 0, first.bytes.count > limit {
            oversize = first.bytes.count
            return false
        }
        batch = first
        return true
    }
}
