/// The head of a request, checked.
struct RequestHead {
    /// How much body follows.
    enum Body: Equatable {
        case none
        case length(Int)
        case chunked
    }

    var method: String
    var rawPath: String
    var rawQuery: String?
    var version: HTTPVersion
    var headers: HTTPFields
    var body: Body

    /// True if the client waits for a word before it sends its body.
    var expectsContinue: Bool {
        version == .http11 && headers.values(of: "Expect").contains { $0.equalsIgnoringASCIICase("100-continue") }
    }

    /// Checks the parts of a head against what libmicrohttpd lets through and against the limits.
    ///
    /// - Parameter target: The request target as sent; nil if it was not UTF-8, or not all of the request line.
    init(
        method: String,
        target: String?,
        version: HTTPVersion,
        headers: HeaderCollection,
        limits: DaemonConfiguration
    ) throws(RequestRefusal) {
        guard let target, !target.isEmpty, !target.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }),
            !method.isEmpty, method.utf8.allSatisfy(\.isTokenCharacter), !headers.isMalformed
        else { throw .malformedHead }
        guard target.utf8.count <= limits.targetLimit else { throw .targetTooLong }
        guard headers.byteCount <= limits.headerLimit else { throw .headersTooLarge }

        let hosts = headers.fields.values(of: "Host")
        if hosts.count > 1 { throw .duplicateHost }
        if hosts.isEmpty && version == .http11 { throw .missingHost }
        guard hosts.allSatisfy({ $0.utf8.allSatisfy(\.isHostCharacter) }) else { throw .malformedHead }

        body = try Self.body(headers.fields, version)
        (rawPath, rawQuery) = Self.split(target)
        self.method = method
        self.version = version
        self.headers = headers.fields
    }

    private static func body(_ headers: HTTPFields, _ version: HTTPVersion) throws(RequestRefusal) -> Body {
        let lengths = headers.values(of: "Content-Length")
        let encodings = headers.values(of: "Transfer-Encoding")
        if lengths.count > 1 { throw .duplicateContentLength }
        if !lengths.isEmpty && !encodings.isEmpty { throw .contentLengthWithTransferEncoding }
        if let encoding = encodings.first {
            guard encodings.count == 1, encoding.equalsIgnoringASCIICase("chunked"), version == .http11 else {
                throw .unsupportedTransferEncoding
            }
            return .chunked
        }
        guard let length = lengths.first else { return .none }
        guard !length.isEmpty, length.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { throw .malformedHead }
        guard let count = Int(length) else { throw .bodyTooLarge }
        return .length(count)
    }

    /// Path and query of a target in origin, absolute or asterisk form (RFC 9112, section 3.2).
    private static func split(_ target: String) -> (path: String, query: String?) {
        var rest = Substring(target).utf8
        var isRootMissing = false
        if rest.first != 0x2F, let colon = rest.firstIndex(of: 0x3A), rest[colon...].starts(with: "://".utf8) {
            let authority = rest[colon...].dropFirst(3)
            rest = authority[(authority.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? authority.endIndex)...]
            isRootMissing = rest.first != 0x2F
        }
        let mark = rest.firstIndex(of: 0x3F)
        let path = isRootMissing ? "/" : String(Substring(rest[..<(mark ?? rest.endIndex)]))
        return (path, mark.map { String(Substring(rest[$0...].dropFirst())) })
    }
}
