/// Sentences for errors of network connections.
package enum NetworkError {
    /// The reason, without a full stop.
    package static func sentence(_ error: any Error) -> String { known(error)?.cause ?? "the connection failed" }

    /// A sentence with the cause, and one with the cure.
    package static func advice(_ error: any Error, address: String) -> String {
        let cure = known(error)?.cure ?? "Check the address and the log of the server."
        return "Cannot connect to \(address): \(sentence(error)). \(cure)"
    }

    /// The cause and the cure of an error by its type and text: the errors of TCP, TLS and HTTP have no common type.
    private static func known(_ error: any Error) -> (cause: String, cure: String)? {
        let text = "\(type(of: error)): \(error)"
        let start = "Start the server or gateway, or correct the address."
        let wait = "Check the firewalls on the way, or correct the address."
        let name = "Correct the address."
        let known: [(text: String, cause: String, cure: String)] = [
            ("errno: 111", "the connection was refused", start), ("errno: 113", "there is no route to the host", wait),
            ("errno: 101", "the network is unreachable", wait), ("errno: 104", "the connection was closed", start),
            ("connectTimeout", "the host does not answer", wait),
            ("timeout", "the host does not answer", wait), ("SocketAddressError", "the host name is unknown", name),
            ("closedEarly", "the connection was closed", start),
            (
                "noResponse",
                "the connection was closed without a response; if the port speaks TLS, use https://", name
            ),
            ("invalidEOFState", "the connection was closed", start),
            ("tooLong", "the response is too long", name),
            ("HTTPParserError", "the response is not HTTP", name),
            (
                "failedToValidateHostname", "its certificate is for another name",
                "Use the name of the certificate in the address."
            ),
            (
                "CERTIFICATE_VERIFY", "its certificate is expired, or its authority is not trusted",
                "Renew it, or add the authority to those of the system."
            ),
            ("WRONG_VERSION_NUMBER", "it does not speak TLS on this port", "Begin the address with http://."),
            ("handshake", "the TLS handshake failed", "Check the versions of TLS that the server admits."),
            ("invalidURL", "the address is not a URL", name), ("missingHost", "the URL has no host", name),
            ("missingScheme", "the URL must begin with http:// or https://", name),
            ("unsupportedScheme", "the scheme of the URL must be http or https", name),
        ]
        return known.first { text.contains($0.text) }.map { ($0.cause, $0.cure) }
    }
}
