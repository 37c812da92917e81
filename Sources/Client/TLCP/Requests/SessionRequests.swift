internal import Primitives

/// `create_session`: opens a session with its first stream connection.
package struct CreateSessionRequest: Sendable, Hashable {
    /// The time that the client waits for the response (`LS_ttl_millis`).
    package enum TimeToLive: Sendable, Hashable {
        case unknown
        /// Without limit: the server does not reject the request because of overload.
        case unlimited
        case millis(Int)
    }

    /// The value of `LS_cid` for custom clients.
    package static let customClientID = "mgQkwtwdysogQz2BJ4Ji kOj2Bg"

    package var connection: ConnectionParameters
    /// The kind of client (`LS_cid`).
    package var clientID = CreateSessionRequest.customClientID
    /// The Adapter Set; nil: `DEFAULT`.
    package var adapterSet: String?
    /// The user; nil: none, which differs from an empty name.
    package var user: String?
    /// The password; nil: none. Must not be logged.
    package var password: String?
    /// The requested bandwidth limit in kbit/s; nil: none.
    package var maxBandwidth: Double?
    /// The diff formats that the client supports; nil: all.
    package var supportedDiffs: DiffFormats?
    /// The time that the client waits for the response; nil: unspecified.
    package var timeToLive: TimeToLive?
    /// The session that the new one replaces, for diagnosis.
    package var oldSession: SessionID?
    /// The reason of the request, for diagnosis.
    package var cause: String?
    /// Operations that are part of the creation: if one of them is rejected, the creation is.
    package var operations: [ControlOperation] = []

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

    /// Parses a line; `combo` are the lines after it, each an operation.
    init(reading parameters: ParameterReader, combo: [ParameterReader]) throws(RequestRejection) {
        connection = try ConnectionParameters(reading: parameters)
        clientID = try parameters.required(.clientID)
        adapterSet = parameters.text(.adapterSet)
        user = parameters.text(.user)
        password = parameters.text(.password)
        supportedDiffs = parameters.text(.supportedDiffs).map(DiffFormats.init(wire:))
        timeToLive = try parameters.value(.ttlMillis, TimeToLive.init(wire:))
        oldSession = parameters.text(.oldSession).map(SessionID.init)
        cause = parameters.text(.cause)
        // No limit is the same as none requested. If the first line is also a `constrain`, the limit is a parameter of both.
        if case .limited(let limit)? = try parameters.value(.maxBandwidth, RequestedMaxBandwidth.init(wire:)) {
            maxBandwidth = limit
        }
        for part in (parameters.has(.operation) ? [parameters] : []) + combo {
            do throws(RequestRejection) {
                operations.append(try ControlOperation(reading: part))
            } catch {
                throw .creation(error.message, of: part.text(.subscriptionID))
            }
        }
    }
}

extension CreateSessionRequest.TimeToLive: WireLimit {
    package static let words: [String: Self] = ["unknown": .unknown, "unlimited": .unlimited]
    package static func limited(_ number: Int) -> Self { .millis(number) }
    package var number: Int? { if case .millis(let millis) = self { millis } else { nil } }
}

/// `bind_session`: binds an existing session to this connection.
package struct BindSessionRequest: Sendable, Hashable {
    /// The session; nil: the one last bound to the WebSocket.
    package var sessionID: SessionID?
    package var connection: ConnectionParameters
    /// For a recovery, the number of data notifications received so far; nil: no recovery.
    package var recoveryFrom: Int?
    /// The reason of the request, for diagnosis.
    package var cause: String?

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

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        sessionID = parameters.sessionID
        recoveryFrom = try parameters.count(.recoveryFrom)
        connection = try ConnectionParameters(reading: parameters)
        cause = parameters.text(.cause)
    }
}

/// `heartbeat`: shows that the client is alive.
package struct HeartbeatRequest: Sendable, Hashable {
    /// The session; nil: the one of the query string, or the one last bound to the WebSocket, if any.
    package var sessionID: SessionID?

    package init(sessionID: SessionID? = nil) { self.sessionID = sessionID }

    func write(to line: inout ParameterWriter) { line.add(.session, sessionID?.rawValue) }

    init(reading parameters: ParameterReader) { sessionID = parameters.sessionID }
}
