/// One request of a client: one parameter line on the wire (several for a combo of `create_session`).
package enum ClientRequest: Sendable, Hashable {
    /// `create_session`.
    case createSession(CreateSessionRequest)
    /// `bind_session`.
    case bindSession(BindSessionRequest)
    /// `control`.
    case control(ControlRequest)
    /// `msg`.
    case message(MessageRequest)
    /// `heartbeat`.
    case heartbeat(HeartbeatRequest)
    /// `wsok`.
    case wsok

    /// The name under which it travels.
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

    /// The identifier that its response echoes; nil for requests that have none.
    package var requestID: RequestID? {
        switch self {
        case .control(let request): request.requestID
        case .message(let request): request.requestID
        case .createSession, .bindSession, .heartbeat, .wsok: nil
        }
    }

    /// The session that it names; nil if it leaves that to the query or to the WebSocket.
    package var sessionID: SessionID? {
        switch self {
        case .bindSession(let request): request.sessionID
        case .control(let request): request.sessionID
        case .message(let request): request.sessionID
        case .heartbeat(let request): request.sessionID
        case .createSession, .wsok: nil
        }
    }

    /// Appends the parameter line, without a CR-LF at its end.
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

    /// The bytes of the parameter line.
    package var encodedLength: Int { encoded.count }

    /// The whole WebSocket message.
    package var webSocketMessage: [UInt8] {
        var bytes = Array(name.rawValue.utf8)
        if self == .wsok { return bytes }
        bytes.append(contentsOf: "\r\n".utf8)
        let start = bytes.count
        encode(into: &bytes)
        if bytes.count == start { bytes.append(contentsOf: "\r\n".utf8) }
        return bytes
    }

    /// The whole body of an HTTP request.
    package var httpBody: [UInt8] {
        var bytes = encoded
        if bytes.isEmpty { bytes.append(contentsOf: "\r\n".utf8) }
        return bytes
    }
}
