public import Logging
public import SessionCore
package import TLCP
public import TLCPTransports

#if MetricsSupport
    public import CoreMetrics
#endif

/// The settings of a client that cannot change later: threads, logging, TLS, proxy.
public struct ClientConfiguration: Sendable {
    /// The edition of the class reference that supplies the initial values of the connection options.
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

        /// The name by which `didChangeProperty` of this edition reports a property of the newest edition.
        ///
        /// The newer edition reports `HTTPExtraHeaders` and `HTTPExtraHeadersOnSessionCreationOnly`; the older one
        /// `idleMillis`, `keepaliveMillis`, `pollingMillis`, `reverseHeartbeatMillis` and, for `requestedMaxBandwidth`,
        /// `maxBandwidth`. All other names are those of the Swift properties.
        public func propertyName(_ name: String) -> String {
            switch self {
            case .new: Self.newerNames[name] ?? name
            case .old: Self.olderNames[name] ?? name
            }
        }

        private static let newerNames = [
            "httpExtraHeaders": "HTTPExtraHeaders",
            "httpExtraHeadersOnSessionCreationOnly": "HTTPExtraHeadersOnSessionCreationOnly",
        ]

        private static let olderNames = [
            "idleTimeout": "idleMillis", "keepaliveInterval": "keepaliveMillis", "pollingInterval": "pollingMillis",
            "reverseHeartbeatInterval": "reverseHeartbeatMillis", "requestedMaxBandwidth": "maxBandwidth",
        ]
    }

    /// The network threads. Default: those of the process.
    public var eventLoops = EventLoops.shared
    /// The log: level `debug`, and at `warning` a refused control link and control requests that fail in succession; never a
    /// password. Default: none.
    public var logger = Logger(label: "lightstreamer.client") { _ in SwiftLogNoOpLogHandler() }
    #if MetricsSupport
        /// Where the client's metrics are made, such as `MetricsSystem.factory`; nil: the client reports none. With the trait
        /// `MetricsSupport`.
        public var metrics: (any MetricsFactory)?
    #endif
    /// TLS settings for `https` servers.
    public var tls = TLSSettings()
    /// The proxy; nil: none.
    public var proxy: ProxySettings?
    /// User and password for HTTP authentication, used before an `AuthenticationDelegate` is asked; nil: none.
    public var httpCredentials: HTTPCredentials?
    /// The cookie jar; nil: a new jar for this client. Several clients may share a jar.
    public var cookieJar: CookieJar?
    /// Called with each request right before it is sent, and may change it; nil: none.
    public var requestDecorator: RequestDecorator?
    /// The least timeout of TCP connections, TLS handshakes and proxy negotiation; a longer timeout of responses
    /// (`ConnectionOptions.connectTimeout`) counts for them as well. Default 10 s.
    public var tcpConnectTimeout: Duration = .seconds(10)
    /// The edition that supplies the initial values of the options, and the names in `didChangeProperty`.
    public var edition = Edition.new
    /// The maximum length of a line from the server in bytes. Default 64 MiB.
    public var maxLineLength = 64 << 20
    /// The maximum number of received bytes that wait for the client's task; beyond it the socket is not read. Default
    /// 1 MiB.
    public var receiveWindow = 1 << 20
    /// The maximum number of unfinished messages; beyond it `sendMessage` throws `overloaded`. Default 100,000.
    public var maxPendingMessages = 100_000
    /// The maximum total length of unfinished messages in bytes of UTF-8; beyond it `sendMessage` throws `overloaded`.
    /// Default 64 MiB.
    public var maxPendingMessageBytes = 64 << 20
    /// The client identifier that session creations carry; the default is that of third-party clients.
    public var clientIdentifier: String?

    /// The first protocol version; nil: the newest, or the one known to work for the address.
    package var protocolVersion: ProtocolVersion?
    /// The addresses that `serverAddress` and control links may name; nil: any.
    package var allowedAddresses: AddressAllowList?
    /// Counts incomplete lines of more than 1 MiB, together with those of other clients; nil: they are not counted.
    package var lineBudget: LineBudget?
    /// Whether a single request that exceeds the request limit of the server is refused; otherwise it is sent, as by the
    /// official clients.
    package var refusesOversizedRequests = false
    /// Whether a request that the server refuses as malformed (65, 67) fails alone; otherwise it ends the session, as with the
    /// official clients.
    package var outlivesMalformedRequests = false
    /// Whether, and how long, sessions can be handed over to other clients; nil: never.
    package var handover: SessionHandover?
    /// Where the client's task runs; nil: on the threads of the runtime. Observers may not block it.
    package var taskExecutor: (any TaskExecutor)?
    /// Time, timers and random numbers; nil: those of the system.
    package var clock: (any ClientClock)?
    /// Opens connections; nil: sockets.
    package var connector: (any TransportConnector)?

    /// The defaults.
    public init() {}
}

/// Lets the sessions of a client be handed over to other clients, of this process or of others, which continue them
/// without loss.
///
/// The client that has the session makes it known as `offeredSession`, together with the number and the values of each
/// subscription after `notificationNumber`, and sets `isSessionOffered`. Another client, never connected before, calls
/// `adopt`; the server repeats to it all that follows. The first one leaves by `abandon`, or as soon as `isOwner` says
/// that it has lost the session: two clients that recover one session would take the data from each other.
package struct SessionHandover: Sendable {
    /// Asked before each connection for an offered session: false if another client may have adopted it. The session is
    /// then abandoned.
    package var isOwner: @Sendable () -> Bool

    /// Sessions can be handed over as long as `isOwner` is true.
    package init(isOwner: @escaping @Sendable () -> Bool) { self.isOwner = isOwner }
}
