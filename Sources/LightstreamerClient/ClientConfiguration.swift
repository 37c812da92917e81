public import Logging
public import SessionCore
package import TLCP
public import TLCPTransports

/// What a client is given once and for all, beside its address: threads, logging, TLS, proxy.
public struct ClientConfiguration: Sendable {
    /// The edition of the class reference whose defaults the connection options start with.
    public enum Edition: String, Sendable, Hashable, CaseIterable {
        /// `retryDelay` 2 s, session recovery.
        case new
        /// `retryDelay` 5 s, no session recovery.
        case old

        /// The defaults.
        public var defaultOptions: ConnectionOptionValues {
            switch self {
            case .new: ConnectionOptionValues()
            case .old: .olderEdition
            }
        }
    }

    /// The network threads. Default: those of the process.
    public var eventLoops = EventLoops.shared
    /// The log: `trace` and `debug`, a refused control link as a warning, never a password. Default: silent.
    public var logger = Logger(label: "lightstreamer.client") { _ in SwiftLogNoOpLogHandler() }
    /// How `https` servers are recognised.
    public var tls = TLSSettings()
    /// The proxy; nil: none.
    public var proxy: ProxySettings?
    /// The cookies; nil: a jar of the client's own. Several clients may be given the same jar.
    public var cookieJar: CookieJar?
    /// Changes each request right before it is sent; nil: nothing does.
    public var requestDecorator: RequestDecorator?
    /// How long a TCP connection, TLS handshake or proxy dialogue may take. Default 10 s.
    public var tcpConnectTimeout: Duration = .seconds(10)
    /// The edition whose defaults the options start with.
    public var edition = Edition.new
    /// The longest line that a server may send, in bytes. Default 64 MiB.
    public var maxLineLength = 64 << 20
    /// How many bytes received may wait for the client's task before the socket is no longer read. Default 1 MiB.
    public var receiveWindow = 1 << 20
    /// How many messages may wait to be sent before `sendMessage` throws `overloaded`. Default 100,000.
    public var maxPendingMessages = 100_000
    /// The client identifier that session creations carry; the default is that of third-party clients.
    public var clientIdentifier: String?

    /// The protocol version to begin with; nil: the newest, or the one found to work for the address.
    package var protocolVersion: ProtocolVersion?
    /// The addresses that `serverAddress` and control links may name; nil: any.
    package var allowedAddresses: AddressAllowList?
    /// Time, timers and random numbers; nil: those of the system.
    package var clock: (any ClientClock)?
    /// How connections are made; nil: over sockets.
    package var connector: (any TransportConnector)?

    /// The defaults.
    public init() {}
}
