/// The parameters of a stream connection, which `create_session` and `bind_session` share.
package struct ConnectionParameters: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The server sends notifications continuously. `keepaliveMillis` nil: chosen by the server;
        /// `inactivityMillis` nil: the client promises no interval; `sendsSync` false: no `SYNC`.
        case streaming(keepaliveMillis: Int? = nil, inactivityMillis: Int? = nil, sendsSync: Bool = true)
        /// The server sends the pending notifications, or waits for one during the idle time, and ends the response;
        /// the client binds again after the interval.
        case polling(intervalMillis: Int = 0, idleMillis: Int = 0)
    }

    package var kind: Kind
    /// The length in bytes after which the server ends the response; nil: chosen by the server. Not for WebSockets.
    package var contentLength: Int?
    /// Whether the server omits lines at the start of the connection; after a bind also `CONOK`.
    package var reducesHead: Bool

    package init(_ kind: Kind, contentLength: Int? = nil, reducesHead: Bool = false) {
        self.kind = kind
        self.contentLength = contentLength
        self.reducesHead = reducesHead
    }

    package var isPolling: Bool { if case .polling = kind { true } else { false } }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
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

    /// Writes the parameters that come early in the line.
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

    /// Writes the parameters that come late in the line.
    func writeFlags(to line: inout ParameterWriter) {
        line.add(.reduceHead, reducesHead, unless: false)
        if case .streaming(_, _, let sendsSync) = kind { line.add(.sendSync, sendsSync, unless: true) }
    }
}
