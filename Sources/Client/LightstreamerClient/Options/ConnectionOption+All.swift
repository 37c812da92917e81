internal import SessionCore

extension ConnectionOption {
    /// All options of a client, in the order of the class reference.
    package static let all: [ConnectionOption] = requests + intervals + failures + behaviour

    private static let requests: [ConnectionOption] = [
        .init("connectTimeout", .connectTimeout(\.connectTimeout), .nextUse)
            .means("The longest time that the response to a request may take; auto: currentConnectTimeout."),
        .init("currentConnectTimeout", .seconds(\.currentConnectTimeout, zeroAllowed: false), .nextUse)
            .means(
                "The response timeout in use while connectTimeout is auto; the client raises it when servers are slow."
            ),
        .init("contentLength", .bytes(\.contentLength), .nextConnection)
            .means("The length at which the server ends an HTTP streaming response and the client requests another."),
        .init("firstRetryMaxDelay", .seconds(\.firstRetryMaxDelay, zeroAllowed: false), .nextUse)
            .means(
                "The upper bound of the random delay before the first attempt to recover or replace a session whose "
                    + "working connection broke; each attempt after it keeps retryDelay."
            ),
        .init("forcedTransport", .transport(\.forcedTransport), .immediately)
            .means(
                "The transport to use; without it the client chooses one. During a session a change switches the "
                    + "transport."
            ),
        .init("httpExtraHeaders", .headers(\.httpExtraHeaders), .nextConnection)
            .means(
                "Header fields that the client adds to its HTTP requests and WebSocket handshakes. They serve as "
                    + "request decoration; an Authorization field replaces the answer to an authentication challenge. "
                    + "The fields Connection, Content-Length, Content-Type, Cookie, Host, Transfer-Encoding, Upgrade "
                    + "and Sec-WebSocket-* belong to the client. While a session uses a WebSocket, a change waits for "
                    + "the next session."
            ),
        .init("httpExtraHeadersOnSessionCreationOnly", .flag(\.httpExtraHeadersOnSessionCreationOnly), .nextConnection)
            .means("Whether httpExtraHeaders are sent only with the request that creates a session."),
    ]

    private static let intervals: [ConnectionOption] = [
        .init("idleTimeout", .seconds(\.idleTimeout, zeroAllowed: true), .nextConnection)
            .means(
                "The longest time that the server may hold a poll for which it has no data; 0: it answers at once. The "
                    + "value that the server grants is then in force."
            ),
        .init("keepaliveInterval", .seconds(\.keepaliveInterval, zeroAllowed: true), .nextConnection)
            .means(
                "The longest silence of a streaming connection, after which the server sends a keep-alive; 0: the "
                    + "server decides. The value that the server grants is then in force."
            ),
        .init("pollingInterval", .seconds(\.pollingInterval, zeroAllowed: true), .nextConnection)
            .means(
                "The time from the start of a poll to the start of the next; 0: the next one follows at once. The "
                    + "value that the server grants is then in force."
            ),
        .init("requestedMaxBandwidth", .bandwidth(\.requestedMaxBandwidth), .immediately)
            .means(
                "The bandwidth limit that the client requests from the server; realMaxBandwidth is the one in force."
            ),
    ]

    private static let failures: [ConnectionOption] = [
        .init("reconnectTimeout", .seconds(\.reconnectTimeout, zeroAllowed: false), .nextUse)
            .means("The time that a stalled connection has to resume before the client opens another."),
        .init("retryDelay", .seconds(\.retryDelay, zeroAllowed: false), .nextUse)
            .means(
                "The shortest time between the starts of two attempts to connect, bind, poll or recover of which the "
                    + "first failed before its connection was stable; it doubles from the eleventh on, up to 60. Less "
                    + "than 0.1 counts as 0.1."
            ),
        .init("reverseHeartbeatInterval", .seconds(\.reverseHeartbeatInterval, zeroAllowed: true), .immediately)
            .means(
                "The longest time between two control requests of the client, which sends heartbeats to keep to it; 0: "
                    + "no heartbeats. Until its next bind a streaming session keeps to the interval that its last one "
                    + "declared, unless the option is shorter. Less than 0.001 counts as 0.001."
            ),
        .init("sessionRecoveryTimeout", .seconds(\.sessionRecoveryTimeout, zeroAllowed: true), .immediately)
            .means(
                "The longest time, from the loss of the last stable connection, for which the client tries to recover "
                    + "a session; 0: no recovery."
            ),
        .init("stalledTimeout", .seconds(\.stalledTimeout, zeroAllowed: false), .nextUse)
            .means(
                "The time beyond the keep-alive interval after which a silent streaming connection counts as stalled."
            ),
    ]

    private static let behaviour: [ConnectionOption] = [
        .init("earlyWSOpenEnabled", .flag(\.earlyWSOpenEnabled), .nextSession)
            .means(
                "Whether the client creates sessions on a WebSocket; false: over HTTP, with a WebSocket for the first "
                    + "bind."
            ),
        .init("serverInstanceAddressIgnored", .flag(\.serverInstanceAddressIgnored), .nextSession)
            .means("Whether the client ignores the control link that the server sends, and keeps to serverAddress."),
        .init("slowingEnabled", .flag(\.slowingEnabled), .nextConnection)
            .means("Whether the client falls back to polling when it cannot keep up with a stream."),
    ]
}
