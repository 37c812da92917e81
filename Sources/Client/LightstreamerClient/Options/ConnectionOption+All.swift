internal import SessionCore

extension ConnectionOption {
    /// All options of a client, in the order of the class reference.
    package static let all: [ConnectionOption] = requests + intervals + failures + behaviour

    private static let requests: [ConnectionOption] = [
        ConnectionOption(
            "connectTimeout",
            .connectTimeout(\.connectTimeout),
            .nextUse,
            "The longest time that the response to a request may take; auto: currentConnectTimeout."
        ),
        ConnectionOption(
            "currentConnectTimeout",
            .seconds(\.currentConnectTimeout, zeroAllowed: false),
            .nextUse,
            "The response timeout in use while connectTimeout is auto; the client raises it when servers are slow."
        ),
        ConnectionOption(
            "contentLength",
            .bytes(\.contentLength),
            .nextConnection,
            "The length at which the server ends an HTTP streaming response and the client requests another."
        ),
        ConnectionOption(
            "firstRetryMaxDelay",
            .seconds(\.firstRetryMaxDelay, zeroAllowed: false),
            .nextUse,
            "The upper bound of the random delay before the first attempt to recover or replace a session whose "
                + "working connection broke; each attempt after it keeps retryDelay."
        ),
        ConnectionOption(
            "forcedTransport",
            .transport(\.forcedTransport),
            .immediately,
            "The transport to use; without it the client chooses one. During a session a change switches the transport."
        ),
        ConnectionOption(
            "httpExtraHeaders",
            .headers(\.httpExtraHeaders),
            .nextConnection,
            "Header fields that the client adds to its HTTP requests and WebSocket handshakes. They serve as "
                + "request decoration; an Authorization field replaces the answer to an authentication challenge. The "
                + "fields Connection, Content-Length, Content-Type, Cookie, Host, Transfer-Encoding, Upgrade and "
                + "Sec-WebSocket-* belong to the client. While a session uses a WebSocket, a change waits for the next "
                + "session."
        ),
        ConnectionOption(
            "httpExtraHeadersOnSessionCreationOnly",
            .flag(\.httpExtraHeadersOnSessionCreationOnly),
            .nextConnection,
            "Whether httpExtraHeaders are sent only with the request that creates a session."
        ),
    ]

    private static let intervals: [ConnectionOption] = [
        ConnectionOption(
            "idleTimeout",
            .seconds(\.idleTimeout, zeroAllowed: true),
            .nextConnection,
            "The longest time that the server may hold a poll for which it has no data; 0: it answers at once. "
                + "The value that the server grants is then in force."
        ),
        ConnectionOption(
            "keepaliveInterval",
            .seconds(\.keepaliveInterval, zeroAllowed: true),
            .nextConnection,
            "The longest silence of a streaming connection, after which the server sends a keep-alive; "
                + "0: the server decides. The value that the server grants is then in force."
        ),
        ConnectionOption(
            "pollingInterval",
            .seconds(\.pollingInterval, zeroAllowed: true),
            .nextConnection,
            "The time from the start of a poll to the start of the next; 0: the next one follows at once. "
                + "The value that the server grants is then in force."
        ),
        ConnectionOption(
            "requestedMaxBandwidth",
            .bandwidth(\.requestedMaxBandwidth),
            .immediately,
            "The bandwidth limit that the client requests from the server; realMaxBandwidth is the one in force."
        ),
    ]

    private static let failures: [ConnectionOption] = [
        ConnectionOption(
            "reconnectTimeout",
            .seconds(\.reconnectTimeout, zeroAllowed: false),
            .nextUse,
            "The time that a stalled connection has to resume before the client opens another."
        ),
        ConnectionOption(
            "retryDelay",
            .seconds(\.retryDelay, zeroAllowed: false),
            .nextUse,
            "The shortest time between the starts of two attempts to connect, bind, poll or recover of which the "
                + "first failed before its connection was stable; it doubles from the eleventh on, up to 60. Less than "
                + "0.1 counts as 0.1."
        ),
        ConnectionOption(
            "reverseHeartbeatInterval",
            .seconds(\.reverseHeartbeatInterval, zeroAllowed: true),
            .immediately,
            "The longest time between two control requests of the client, which sends heartbeats to keep to it; "
                + "0: no heartbeats. Until its next bind a streaming session keeps to the interval that its last one "
                + "declared, unless the option is shorter. Less than 0.001 counts as 0.001."
        ),
        ConnectionOption(
            "sessionRecoveryTimeout",
            .seconds(\.sessionRecoveryTimeout, zeroAllowed: true),
            .immediately,
            "The longest time, from the loss of the last stable connection, for which the client tries to recover "
                + "a session; 0: no recovery."
        ),
        ConnectionOption(
            "stalledTimeout",
            .seconds(\.stalledTimeout, zeroAllowed: false),
            .nextUse,
            "The time beyond the keep-alive interval after which a silent streaming connection counts as stalled."
        ),
    ]

    private static let behaviour: [ConnectionOption] = [
        ConnectionOption(
            "earlyWSOpenEnabled",
            .flag(\.earlyWSOpenEnabled),
            .nextSession,
            "Whether the client creates sessions on a WebSocket; false: over HTTP, with a WebSocket for the first bind."
        ),
        ConnectionOption(
            "serverInstanceAddressIgnored",
            .flag(\.serverInstanceAddressIgnored),
            .nextSession,
            "Whether the client ignores the control link that the server sends, and keeps to serverAddress."
        ),
        ConnectionOption(
            "slowingEnabled",
            .flag(\.slowingEnabled),
            .nextConnection,
            "Whether the client falls back to polling when it cannot keep up with a stream."
        ),
    ]
}
