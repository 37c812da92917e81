/// An order of the pool's machine to whoever acts for it.
package enum PoolAction: Equatable, Sendable {
    /// Make a client and connect it.
    case openClient(ClientID, SessionKey)
    /// Make a subscription and subscribe to it on this client.
    case openShared(SharedID, SharedKey, on: ClientID)
    /// Unsubscribe and forget.
    case closeShared(SharedID)
    /// Disconnect and forget.
    case closeClient(ClientID)
}
