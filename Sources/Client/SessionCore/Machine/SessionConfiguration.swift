package import TLCP

/// The settings of a session machine that never change.
package struct SessionConfiguration: Sendable, Equatable {
    /// The client identifier for `LS_cid`; the default is the one that the protocol gives to third-party clients.
    package var clientIdentifier = CreateSessionRequest.customClientID
    /// The protocol version to begin with; see `SessionAction.rememberVersion`.
    package var protocolVersion = ProtocolVersion.current
    /// The addresses that a control link may name; nil: any.
    package var allowedAddresses: AddressAllowList?
    /// Whether the events of data notifications are preceded by `SessionAction.numbered`.
    package var numbersNotifications = false
    /// Whether a single request that exceeds the request limit of the server is refused; otherwise it is sent, as by the
    /// official clients.
    package var refusesOversizedRequests = false
    /// Whether a request that the server refuses as malformed (65, 67) fails alone; otherwise it ends the session, as with the
    /// official clients.
    package var outlivesMalformedRequests = false

    package init() {}
}
