internal import SessionCore

/// The server address and credentials of a client, and the session properties that the server has sent.
///
/// The settable details take effect at the next session creation. Each change is notified by `didChangeProperty`.
public final class ConnectionDetails: Sendable, CustomStringConvertible {
    private let core: ClientCore

    init(core: ClientCore) { self.core = core }

    /// The address: an `http` or `https` URL with an optional port and path prefix, without a query; nil: none.
    public var serverAddress: String? { core.state.withLock { $0.details.serverAddress } }

    /// Sets `serverAddress`. Throws `invalidValue` for any other text, `addressNotAllowed` for one that the
    /// configuration does not admit.
    public func setServerAddress(_ address: String?) throws(ClientError) {
        try update { $0.serverAddress = address }
    }

    /// The adapter set; nil: the server's `DEFAULT`.
    public var adapterSet: String? { core.state.withLock { $0.details.adapterSet } }

    /// Sets `adapterSet`.
    public func setAdapterSet(_ name: String?) { core.updateDetails { $0.adapterSet = name } }

    /// The user; nil: none is sent.
    public var user: String? { core.state.withLock { $0.details.user } }

    /// Sets `user`.
    public func setUser(_ user: String?) { core.updateDetails { $0.user = user } }

    /// Sets the password; nil: none is sent. It cannot be read back and is never logged.
    public func setPassword(_ password: String?) { core.updateDetails { $0.password = password } }

    /// The accepted public keys of servers, as `sha256/…` or `sha1/…` with the digest of the subject public key info
    /// in base64; empty: any. One certificate of the verified chain must have one of them, in addition to the usual
    /// checks, for every later connection.
    public var certificatePins: [String] { core.state.withLock { $0.certificatePins } }

    /// Sets `certificatePins`. Throws `invalidValue` for a malformed pin.
    public func setCertificatePins(_ pins: [String]) throws(ClientError) {
        try update(certificatePins: pins) { _ in }
    }

    /// Changes any number of details at once, so that no session is created with some of the changes: all, or none if the
    /// address or a pin is refused. The closure is called twice.
    ///
    /// - Parameter pins: The certificate pins; nil: as before.
    package func update(
        certificatePins pins: [String]? = nil,
        _ change: (inout ConnectionDetailValues) -> Void
    ) throws(ClientError) {
        var values = core.state.withLock { $0.details }
        change(&values)
        try core.check(address: values.serverAddress)
        try core.check(pins: pins ?? [])
        core.updateDetails(pins: pins, change)
    }

    /// The session's id; nil without a session.
    public var sessionId: String? { core.state.withLock { $0.session.sessionId } }

    /// The address that the server has named for the requests of the session; nil without one, and while it is ignored.
    public var serverInstanceAddress: String? { core.state.withLock { $0.session.serverInstanceAddress } }

    /// The name of the server's socket; nil without a session.
    public var serverSocketName: String? { core.state.withLock { $0.session.serverSocketName } }

    /// This client's address as the server sees it; nil without a session.
    public var clientIp: String? { core.state.withLock { $0.session.clientIp } }

    /// The details that are set, and the library's name and version, without the password.
    public var description: String {
        let pins = certificatePins
        let named: [(String, String?)] = [
            ("serverAddress", serverAddress), ("adapterSet", adapterSet), ("user", user),
            ("certificatePins", pins.isEmpty ? nil : pins.joined(separator: ",")), ("sessionId", sessionId),
            ("serverInstanceAddress", serverInstanceAddress), ("serverSocketName", serverSocketName),
            ("clientIp", clientIp), ("library", "\(LightstreamerClient.libName) \(LightstreamerClient.libVersion)"),
        ]
        return named.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: " ")
    }
}
