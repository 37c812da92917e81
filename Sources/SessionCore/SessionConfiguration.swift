package import TLCP

/// What a session machine is told once and for all.
package struct SessionConfiguration: Sendable, Equatable {
    /// The client identifier for `LS_cid`; the default is the one that the protocol gives to third-party clients.
    package var clientIdentifier = "mgQkwtwdysogQz2BJ4Ji kOj2Bg"
    /// The protocol version to begin with; see `SessionAction.rememberVersion`.
    package var protocolVersion = ProtocolVersion.current
    /// The addresses that a control link may name; nil: any.
    package var allowedAddresses: AddressAllowList?

    /// The defaults.
    package init() {}
}
