internal import NIOCore

/// What the transports of one client share.
///
/// `@unchecked Sendable`: everything in it may be used anywhere but `pool`, which is used on the client's thread alone.
final class SocketContext: @unchecked Sendable {
    let settings: SocketSettings
    let credentials: Credentials
    let dialer: Dialer
    let pool: KeepAlivePool
    let heads: RequestHead

    init(_ settings: SocketSettings, credentials: Credentials, dialer: Dialer) {
        self.settings = settings
        self.credentials = credentials
        self.dialer = dialer
        pool = KeepAlivePool(loop: dialer.loop)
        heads = RequestHead(settings, credentials)
    }
}
