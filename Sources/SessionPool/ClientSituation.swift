package import SessionCore

/// What is known of a client's connection at a moment.
package struct ClientSituation: Sendable, Equatable {
    /// The status.
    package let status: ClientStatus
    /// The last refusal or closure by the server since `connect()` was called; nil: none.
    package let lastServerError: UpstreamRefusal?
}
