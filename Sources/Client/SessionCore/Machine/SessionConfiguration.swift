package import TLCP

/// The settings of a session machine that never change.
package struct SessionConfiguration: Sendable, Equatable {
    /// The client identifier for `LS_cid`; the default is the one that the protocol gives to third-party clients.
    package var clientIdentifier = "mgQkwtwdysogQz2BJ4Ji kOj2Bg"
    /// The protocol version to begin with; see `SessionAction.rememberVersion`.
    package var protocolVersion = ProtocolVersion.current
    /// The addresses that a control link may name; nil: any.
    package var allowedAddresses: AddressAllowList?
    /// Whether the events of data notifications are preceded by `SessionAction.numbered`.
    package var numbersNotifications = false
    /// Whether a request fails alone that exceeds the request limit of the server, or that the server refuses as malformed
    /// (65, 67). Otherwise, as with the official clients, the former is sent, and the latter ends the session.
    package var failsRequestsAlone = false

    /// The defaults.
    package init() {}
}
