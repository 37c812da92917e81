/// `create_session`: a new session and its first stream connection.
package struct CreateSessionRequest: Sendable, Hashable {
    /// How long the client waits for the answer.
    package enum TimeToLive: Sendable, Hashable {
        /// The client does not say.
        case unknown
        /// As long as it takes: the server may not refuse for being overloaded.
        case unlimited
        /// So many milliseconds.
        case millis(Int)
    }

    /// The value of `LS_cid` for clients that are not official ones.
    package static let customClientID = "mgQkwtwdysogQz2BJ4Ji kOj2Bg"

    /// How the first connection behaves.
    package var connection: ConnectionParameters
    /// What kind of client this is.
    package var clientID = CreateSessionRequest.customClientID
    /// The Adapter Set; nil: `DEFAULT`.
    package var adapterSet: String?
    /// The user; nil: none, which is not the same as an empty name.
    package var user: String?
    /// The password; nil: none. Never to be logged.
    package var password: String?
    /// The bandwidth limit wanted, in kbit/s; nil: none.
    package var maxBandwidth: Double?
    /// The diff formats that the client can read; nil: any.
    package var supportedDiffs: DiffFormats?
    /// How long the client waits for the answer; nil: not said.
    package var timeToLive: TimeToLive?
    /// The session that this one replaces, for diagnosis.
    package var oldSession: SessionID?
    /// Why the session is created, for diagnosis.
    package var cause: String?
    /// Control operations to be done with the creation, or else the creation fails (a combo).
    package var operations: [ControlOperation] = []

    /// A request with nothing but its connection.
    package init(connection: ConnectionParameters) { self.connection = connection }

    func write(to line: inout ParameterWriter) {
        line.add(.ttlMillis, timeToLive?.wire)
        connection.writeTimes(to: &line)
        line.add(.maxBandwidth, maxBandwidth.map(WireNumber.text))
        line.add(.adapterSet, adapterSet)
        line.add(.user, user)
        line.add(.clientID, clientID)
        line.add(.oldSession, oldSession?.rawValue)
        line.add(.supportedDiffs, supportedDiffs?.wire)
        connection.writeFlags(to: &line)
        line.add(.cause, cause)
        line.add(.password, password)
        for operation in operations {
            line.endLine()
            operation.write(to: &line, requestID: nil)
        }
    }

    /// The request that a line describes; `combo` are the lines after it.
    init(reading parameters: ParameterReader, combo: [ParameterReader]) throws(RequestRefusal) {
        connection = try ConnectionParameters(reading: parameters)
        clientID = try parameters.required(.clientID)
        adapterSet = parameters.text(.adapterSet)
        user = parameters.text(.user)
        password = parameters.text(.password)
        supportedDiffs = parameters.text(.supportedDiffs).map(DiffFormats.init(wire:))
        timeToLive = try parameters.value(.ttlMillis, TimeToLive.init(wire:))
        oldSession = parameters.text(.oldSession).map(SessionID.init)
        cause = parameters.text(.cause)
        let isCombo = parameters.has(.operation)
        // In a combo line that is a `constrain`, the limit belongs to the operation as well: both mean the same.
        if !isCombo || parameters.text(.maxBandwidth) != "unlimited" {
            maxBandwidth = try parameters.value(.maxBandwidth, RequestedBandwidth.limit)
        }
        for part in (isCombo ? [parameters] : []) + combo {
            do throws(RequestRefusal) {
                operations.append(try ControlOperation(reading: part))
            } catch {
                throw RequestRefusal(.connection, code: 64, message: error.message)
            }
        }
    }
}

extension CreateSessionRequest.TimeToLive {
    fileprivate var wire: String {
        switch self {
        case .unknown: "unknown"
        case .unlimited: "unlimited"
        case .millis(let millis): String(millis)
        }
    }

    fileprivate init?(wire: String) {
        switch wire {
        case "unknown": self = .unknown
        case "unlimited": self = .unlimited
        default:
            guard let millis = WireNumber.count(Array(wire.utf8)[...]) else { return nil }
            self = .millis(millis)
        }
    }
}

/// `bind_session`: an existing session goes on over this connection.
package struct BindSessionRequest: Sendable, Hashable {
    /// The session; nil: the one last bound to this WebSocket.
    package var sessionID: SessionID?
    /// How the connection behaves.
    package var connection: ConnectionParameters
    /// The number of data notifications received so far, after an interruption; nil: everything was received.
    package var recoveryFrom: Int?
    /// Why the session is bound, for diagnosis.
    package var cause: String?

    /// A request.
    package init(
        sessionID: SessionID?,
        connection: ConnectionParameters,
        recoveryFrom: Int? = nil,
        cause: String? = nil
    ) {
        self.sessionID = sessionID
        self.connection = connection
        self.recoveryFrom = recoveryFrom
        self.cause = cause
    }

    func write(to line: inout ParameterWriter) {
        line.add(.session, sessionID?.rawValue)
        line.add(.recoveryFrom, recoveryFrom)
        connection.writeTimes(to: &line)
        connection.writeFlags(to: &line)
        line.add(.cause, cause)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        sessionID = parameters.sessionID
        recoveryFrom = try parameters.count(.recoveryFrom)
        connection = try ConnectionParameters(reading: parameters)
        cause = parameters.text(.cause)
    }
}

/// `heartbeat`: tells that the client is there.
package struct HeartbeatRequest: Sendable, Hashable {
    /// The session; nil: that of the query string, or the one last bound to this WebSocket, if any.
    package var sessionID: SessionID?

    /// A request.
    package init(sessionID: SessionID? = nil) { self.sessionID = sessionID }

    func write(to line: inout ParameterWriter) { line.add(.session, sessionID?.rawValue) }

    init(reading parameters: ParameterReader) { sessionID = parameters.sessionID }
}
