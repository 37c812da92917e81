/// The name of a request on the wire: the first line of a WebSocket message, the last component of an HTTP path.
package enum RequestName: String, Sendable, Hashable, CaseIterable {
    /// Creates a session and binds it to the connection.
    case createSession = "create_session"
    /// Binds a session to the connection.
    case bindSession = "bind_session"
    /// Performs an operation on a session.
    case control
    /// Sends a message to the Metadata Adapter.
    case msg
    /// Shows that the client is alive.
    case heartbeat
    /// Checks that a WebSocket works; it does not exist over HTTP.
    case wsok

    /// Whether several requests may be lines of one batch.
    package var allowsBatch: Bool { self == .control || self == .msg }

    /// Whether the request opens a stream connection, so that a rejection is `CONERR`.
    package var opensStream: Bool { self == .createSession || self == .bindSession }

    /// The HTTP path and query, such as `/lightstreamer/control.txt?LS_protocol=TLCP-2.5.0&LS_session=S1`. `session`: the
    /// default session of the lines of the body; nil: each line has its own, or needs none.
    package func httpTarget(session: SessionID? = nil, version: ProtocolVersion = .current) -> String {
        var query: [UInt8] = []
        if let session {
            query.append(contentsOf: "&LS_session=".utf8)
            PercentCoding.encode(parameter: session.rawValue, into: &query)
        }
        let version = version.protocolParameter
        return "/lightstreamer/\(rawValue).txt?LS_protocol=\(version)" + String(decoding: query, as: UTF8.self)
    }

    /// The request name in an HTTP path, with any prefix before `/lightstreamer/`; nil if there is none.
    package init?(httpPath path: String) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[parts.count - 2].elementsEqual("lightstreamer".utf8) else { return nil }
        let file = parts[parts.count - 1]
        let known = Self.allCases.first { $0 != .wsok && file.elementsEqual("\($0.rawValue).txt".utf8) }
        guard let known else { return nil }
        self = known
    }
}
