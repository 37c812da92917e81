internal import TLCP

/// The requests that create, bind and recover sessions, with the facts that one of them leaves to the next: the address and
/// the protocol version of the server, the last session, and the cause.
struct SessionOpening {
    /// The connection details, for the next creation.
    var details: ConnectionDetailValues
    /// The details as they stood when the present creation began. Its request is written when its WebSocket is open, and must
    /// not carry the user and the password for another address.
    private var creationDetails: ConnectionDetailValues
    /// The `LS_cause` of the next request; sent once.
    var cause: String?
    private let clientIdentifier: String
    private var fallback: VersionFallback
    /// The last session since `connect()`, for `LS_old_session`.
    private var lastSession: SessionID?
    /// The address at the last `connect()`, used if the user has cleared `serverAddress` since.
    private var lastAddress: String?

    init(_ details: ConnectionDetailValues, _ configuration: SessionConfiguration) {
        self.details = details
        creationDetails = details
        clientIdentifier = configuration.clientIdentifier
        fallback = VersionFallback(configuration.protocolVersion)
    }

    var version: ProtocolVersion { fallback.current }

    /// `connect()`. Returns the address of the server; nil: none is set.
    mutating func connecting() -> String? {
        guard let address = details.serverAddress else { return nil }
        lastAddress = address
        return creationAddress()
    }

    /// The address of a creation that begins; nil: none was ever set.
    mutating func creationAddress() -> String? {
        guard let address = details.serverAddress ?? lastAddress else { return nil }
        creationDetails = details
        fallback.creating(at: address)
        return address
    }

    /// A session was created or adopted.
    mutating func sessionBegan(_ id: SessionID) { lastSession = id }

    /// The server refused the protocol version. Returns false if there is no older one.
    mutating func versionRefused() -> Bool { fallback.refused() }

    /// The client was disconnected: the address and the protocol version are kept.
    mutating func disconnected() {
        cause = nil
        lastSession = nil
    }

    // MARK: - Requests

    mutating func creation(
        _ kind: ConnectionParameters.Kind,
        isUnlimited: Bool,
        maxBandwidth: RequestedMaxBandwidth
    ) -> ClientRequest {
        var request = CreateSessionRequest(connection: ConnectionParameters(kind))
        request.clientID = clientIdentifier
        request.adapterSet = creationDetails.adapterSet
        request.user = creationDetails.user
        request.password = creationDetails.password
        if case .limited(let limit) = maxBandwidth { request.maxBandwidth = limit }
        if isUnlimited { request.timeToLive = .unlimited }
        request.oldSession = lastSession
        request.cause = takeCause()
        return .createSession(request)
    }

    /// A bind, or with `recoveryFrom` a recovery after this number of data notifications. Without `session`, on the WebSocket
    /// of the previous poll, the server takes the session that was last bound to that WebSocket, and the cause waits.
    mutating func bind(
        _ session: SessionID?,
        _ connection: ConnectionParameters,
        recoveryFrom processed: Int? = nil
    ) -> ClientRequest {
        let cause = session == nil ? nil : takeCause()
        return .bindSession(
            BindSessionRequest(sessionID: session, connection: connection, recoveryFrom: processed, cause: cause)
        )
    }

    /// A request in its HTTP form. `create_session` and `bind_session` name their session in the body.
    func http(_ request: ClientRequest) -> TransportRequest.Request {
        TransportRequest.Request(target: request.name.httpTarget(version: version), body: request.httpBody)
    }

    private mutating func takeCause() -> String? {
        defer { cause = nil }
        return cause
    }
}
