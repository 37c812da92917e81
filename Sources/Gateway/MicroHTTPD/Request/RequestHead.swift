internal import Glibc

/// The head of a request, checked.
struct RequestHead {
    /// The length of the body.
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
    /// True if the request has to be the last one on its connection: its body is chunked, or a line ends with LF alone,
    /// so that the library may find the end of the request at another place than a proxy did.
    var isLastOnConnection: Bool

    /// True if the client waits for `100 Continue` before it sends its body.
    var expectsContinue: Bool {
        version == .http11 && headers.values(of: "Expect").contains { $0.equalsIgnoringASCIICase("100-continue") }
    }

    /// Checks the parts of a head that libmicrohttpd does not check, and the limits.
    ///
    /// - Parameter target: The request target as sent; nil if it was not UTF-8, or if the request line has other bytes
    ///   beside the method, the target and the version.
    init(
        method: String,
        target: String?,
        version: HTTPVersion,
        headers: HeaderCollection,
        limits: DaemonConfiguration
    ) throws(RequestRefusal) {
        guard let target, !target.isEmpty, target.utf8.hasOnly({ $0 > 0x20 && $0 != 0x7F }),
            !method.isEmpty, method.utf8.hasOnly(\.isTokenCharacter), !headers.isMalformed
        else { throw .malformedHead }
        guard target.utf8.count <= limits.targetLimit else { throw .targetTooLong }
        guard headers.byteCount <= limits.headerLimit else { throw .headersTooLarge }

        let framing = FramingLines(headers.fields)
        if framing.hosts.count > 1 { throw .duplicateHost }
        if framing.hosts.isEmpty && version == .http11 { throw .missingHost }
        let (authority, path, query) = Self.split(target)
        guard framing.hosts.value?.utf8.hasOnly(\.isHostCharacter) ?? true,
            authority?.utf8.hasOnly(\.isHostCharacter) ?? true
        else { throw .malformedHead }

        body = try Self.body(framing, version)
        (rawPath, rawQuery) = (path, query)
        isLastOnConnection = body == .chunked || headers.hasBareLineFeed
        self.method = method
        self.version = version
        self.headers = headers.fields
        // The authority of an absolute target replaces Host (RFC 9112, section 3.2.2).
        if let authority {
            self.headers.lines.removeAll { $0.isNamed("Host") }
            self.headers.append("Host", authority)
        }
    }

    /// The most digits of a `Content-Length` that is read as a number.
    static let mostLengthDigits = 18

    private static func body(_ lines: FramingLines, _ version: HTTPVersion) throws(RequestRefusal) -> Body {
        if lines.lengths.count > 1 { throw .duplicateContentLength }
        if !lines.lengths.isEmpty && !lines.encodings.isEmpty { throw .contentLengthWithTransferEncoding }
        if let encoding = lines.encodings.value {
            guard lines.encodings.count == 1, encoding.equalsIgnoringASCIICase("chunked"), version == .http11 else {
                throw .unsupportedTransferEncoding
            }
            return .chunked
        }
        guard let length = lines.lengths.value else { return .none }
        guard !length.isEmpty, length.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { throw .malformedHead }
        guard length.utf8.count <= Self.mostLengthDigits, let count = Int(length) else { throw .bodyTooLarge }
        return .length(count)
    }

    /// Authority, path and query of a target in origin, absolute or asterisk form (RFC 9112, section 3.2); no authority
    /// in other forms than the absolute one.
    private static func split(_ target: String) -> (authority: String?, path: String, query: String?) {
        // Most targets are a path alone, which is not copied.
        if target.utf8.first == 0x2F, target.utf8.hasOnly({ $0 != 0x3F }) { return (nil, target, nil) }
        var rest = Substring(target).utf8
        var isRootMissing = false
        var host: String?
        if rest.first != 0x2F, let colon = rest.firstIndex(of: 0x3A), rest[colon...].starts(with: "://".utf8) {
            let authority = rest[colon...].dropFirst(3)
            let end = authority.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? authority.endIndex
            host = String(Substring(authority[..<end]))
            rest = authority[end...]
            isRootMissing = rest.first != 0x2F
        }
        let mark = rest.firstIndex(of: 0x3F)
        let path = isRootMissing ? "/" : String(Substring(rest[..<(mark ?? rest.endIndex)]))
        return (host, path, mark.map { String(Substring(rest[$0...].dropFirst())) })
    }
}

/// The lines that decide where a request goes and ends, found in one pass.
private struct FramingLines {
    /// The lines of one name.
    struct Lines {
        /// Their number.
        private(set) var count = 0
        /// The value of the first one.
        private(set) var value: String?

        var isEmpty: Bool { count == 0 }

        mutating func add(_ line: HTTPField) {
            count += 1
            if value == nil { value = line.value }
        }
    }

    private(set) var hosts = Lines()
    private(set) var lengths = Lines()
    private(set) var encodings = Lines()

    init(_ fields: HTTPFields) {
        for line in fields.lines {
            if line.isNamed("Host") {
                hosts.add(line)
            } else if line.isNamed("Content-Length") {
                lengths.add(line)
            } else if line.isNamed("Transfer-Encoding") {
                encodings.add(line)
            }
        }
    }
}

/// The request target in the library's memory of the request line.
struct TargetText {
    /// The target; nil if it is not UTF-8.
    let text: String?
    /// Its address. For comparison only: the memory belongs to the library.
    private let start: UInt
    private let end: UInt

    /// Copies a target, then hides its query from the library.
    ///
    /// The library would split the query into the connection's memory. Some hundred parts fill that memory, and then
    /// the client gets no response at all. The server does not need the parts, so a NUL byte is written behind the `?`.
    /// The memory belongs to the connection, and the library writes into it as well.
    init(taking target: UnsafePointer<CChar>) {
        text = String(validatingCString: target)
        start = UInt(bitPattern: target)
        end = start + UInt(strlen(target))
        if let mark = strchr(target, Int32(UInt8(ascii: "?"))) { mark[1] = 0 }
    }

    /// Whether there is nothing but the target between method and version. The library reads each of the three up to
    /// its first NUL byte, and skips the bytes after that and additional blanks.
    func fills(from method: UnsafePointer<CChar>, to version: UnsafePointer<CChar>) -> Bool {
        UInt(bitPattern: method) + UInt(strlen(method)) + 1 == start && end + 1 == UInt(bitPattern: version)
    }
}
