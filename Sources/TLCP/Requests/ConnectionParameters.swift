/// How a stream connection is to behave: the part that `create_session` and `bind_session` share.
package struct ConnectionParameters: Sendable, Hashable {
    /// Whether the connection stays open.
    package enum Kind: Sendable, Hashable {
        /// Notifications flow as they come. Nil intervals leave the choice to the server, or promise nothing;
        /// `sendsSync` false: no `SYNC`.
        case streaming(keepaliveMillis: Int? = nil, inactivityMillis: Int? = nil, sendsSync: Bool = true)
        /// The server answers once: what is there, or what comes within the idle time; the next bind follows after
        /// the interval.
        case polling(intervalMillis: Int = 0, idleMillis: Int = 0)
    }

    /// Whether the connection stays open.
    package var kind: Kind
    /// The size of the response at which the server ends it, in bytes; nil: the server decides. Not for WebSockets.
    package var contentLength: Int?
    /// Whether the server leaves lines out at the head of the connection. A bind then has no `CONOK`.
    package var reducesHead: Bool

    /// Parameters.
    package init(_ kind: Kind, contentLength: Int? = nil, reducesHead: Bool = false) {
        self.kind = kind
        self.contentLength = contentLength
        self.reducesHead = reducesHead
    }

    /// Whether the connection is a poll.
    package var isPolling: Bool {
        if case .polling = kind { true } else { false }
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        contentLength = try parameters.count(.contentLength)
        reducesHead = try parameters.flag(.reduceHead, default: false)
        if try parameters.flag(.polling, default: false) {
            kind = .polling(
                intervalMillis: try parameters.count(.pollingMillis) ?? 0,
                idleMillis: try parameters.count(.idleMillis) ?? 0
            )
        } else {
            kind = .streaming(
                keepaliveMillis: try parameters.count(.keepaliveMillis),
                inactivityMillis: try parameters.count(.inactivityMillis),
                sendsSync: try parameters.flag(.sendSync, default: true)
            )
        }
    }

    /// The parameters that stand early in the line.
    func writeTimes(to line: inout ParameterWriter) {
        line.add(.contentLength, contentLength)
        switch kind {
        case .streaming(let keepaliveMillis, let inactivityMillis, _):
            line.add(.keepaliveMillis, keepaliveMillis)
            line.add(.inactivityMillis, inactivityMillis)
        case .polling(let intervalMillis, let idleMillis):
            line.add(.polling, true)
            line.add(.pollingMillis, intervalMillis)
            line.add(.idleMillis, idleMillis)
        }
    }

    /// The parameters that stand late in the line.
    func writeFlags(to line: inout ParameterWriter) {
        line.add(.reduceHead, reducesHead, unless: false)
        if case .streaming(_, _, let sendsSync) = kind { line.add(.sendSync, sendsSync, unless: true) }
    }
}
