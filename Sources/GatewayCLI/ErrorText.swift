internal import AsyncHTTPClient
internal import JSONText

/// Sentences for errors of network connections.
enum NetworkError {
    /// The reason, without a full stop.
    static func sentence(_ error: any Error) -> String {
        let text = "\(error)"
        let known = [
            ("errno: 111", "the connection was refused"), ("errno: 113", "there is no route to the host"),
            ("errno: 101", "the network is unreachable"), ("errno: 104", "the connection was closed"),
            ("connectTimeout", "the host does not answer"), ("deadlineExceeded", "the host does not answer"),
            ("readTimeout", "the host does not answer"), ("SocketAddressError", "the host name is unknown"),
            ("remoteConnectionClosed", "the connection was closed"),
            ("CERTIFICATE_VERIFY", "its certificate is not valid"),
            ("handshake", "the TLS handshake failed"), ("emptyHost", "the URL has no host"),
            ("emptyScheme", "the URL must begin with http:// or https://"),
            ("unsupportedScheme", "the scheme of the URL must be http or https"),
        ]
        return known.first { text.contains($0.0) }?.1 ?? text
    }
}

/// Sentences for problem details (RFC 9457).
enum ProblemText {
    /// The title and detail of a problem, with its status; the beginning of the body if it is none.
    static func sentence(status: some BinaryInteger, _ body: String) -> String {
        guard let problem = try? JSONValue(parsing: body), let title = problem["title"]?.string else {
            let text = body.prefix(200).filter { !$0.isNewline }
            return text.isEmpty ? "status \(status)." : "status \(status), \(text)"
        }
        let detail = problem["detail"]?.string.map { ": \($0)" } ?? "."
        return "\(title.printable) (\(status))\(detail.printable)"
    }
}
