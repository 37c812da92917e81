/// What a request is called on the wire: the first line of a WebSocket message, the last part of an HTTP path.
package enum RequestName: String, Sendable, Hashable, CaseIterable {
    /// Makes a session and binds it to the connection.
    case createSession = "create_session"
    /// Binds a session to the connection.
    case bindSession = "bind_session"
    /// Acts on a session.
    case control
    /// Sends a message to the Metadata Adapter.
    case msg
    /// Tells that the client is there.
    case heartbeat
    /// Asks whether a WebSocket works; over HTTP it does not exist.
    case wsok

    /// Whether several requests may travel as lines of one batch.
    package var allowsBatch: Bool { self == .control || self == .msg }

    /// Whether the answer opens a stream connection, and a refusal is `CONERR`.
    package var opensStream: Bool { self == .createSession || self == .bindSession }

    /// The HTTP path and query, such as `/lightstreamer/control.txt?LS_protocol=TLCP-2.5.0&LS_session=S1`.
    ///
    /// - Parameters:
    ///   - prefix: the path of the server address, without a slash at its end; usually empty.
    ///   - session: the default session of the body's lines; nil: each line has its own, or needs none.
    ///   - version: the protocol version to speak.
    package func httpTarget(
        prefix: String = "",
        session: SessionID? = nil,
        version: ProtocolVersion = .current
    ) -> String {
        var query: [UInt8] = []
        if let session {
            query.append(contentsOf: "&LS_session=".utf8)
            PercentCoding.encode(parameter: session.rawValue, into: &query)
        }
        let version = version.protocolParameter
        return "\(prefix)/lightstreamer/\(rawValue).txt?LS_protocol=\(version)" + String(decoding: query, as: UTF8.self)
    }

    /// The path of the WebSocket endpoint.
    package static func webSocketPath(prefix: String = "") -> String { "\(prefix)/lightstreamer" }

    /// The request that an HTTP path names, whatever stands before `/lightstreamer/`; nil if it names none.
    package init?(httpPath path: String) {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[parts.count - 2].elementsEqual("lightstreamer".utf8) else { return nil }
        let file = parts[parts.count - 1]
        let known = Self.allCases.first { $0 != .wsok && file.elementsEqual("\($0.rawValue).txt".utf8) }
        guard let known else { return nil }
        self = known
    }
}
