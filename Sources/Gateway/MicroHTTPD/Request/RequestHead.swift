internal import CMicroHTTPD
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
    /// True for HTTP/1.0: no chunked framing, and the connection closes after the response unless both sides agree otherwise.
    var isOldVersion: Bool
    var headers: HTTPFields
    var body: Body
    /// True if the request has to be the last one on its connection: its body is chunked, or a line ends with LF alone,
    /// so that the library may find the end of the request at another place than a proxy did.
    var isLastOnConnection: Bool

    /// True if the client waits for `100 Continue` before it sends its body.
    var expectsContinue: Bool {
        !isOldVersion && headers.values(of: "Expect").contains { $0.equalsIgnoringASCIICase("100-continue") }
    }

    /// Checks the parts of a head that libmicrohttpd does not check, and the limits.
    ///
    /// - Parameter target: The request target as sent; nil if it was not UTF-8, or if the request line has other bytes
    ///   beside the method, the target and the version.
    init(
        method: String,
        target: String?,
        isOldVersion: Bool,
        headers: HeaderCollection,
        limits: DaemonConfiguration
    ) throws(RequestRefusal) {
        guard let target, !target.isEmpty, ByteSet.target.contains(target), !method.isEmpty,
            ByteSet.token.contains(method), !headers.isMalformed
        else { throw .malformedHead }
        guard target.utf8.count <= limits.targetLimit else { throw .targetTooLong }
        guard headers.byteCount <= limits.headerLimit else { throw .headersTooLarge }

        if headers.hosts.count > 1 { throw .duplicateHost }
        if headers.hosts.isEmpty, !isOldVersion { throw .missingHost }
        let (authority, path, query) = Self.split(target)
        for host in headers.hosts where !ByteSet.host.contains(host) { throw .malformedHead }
        if let authority, !ByteSet.host.contains(authority) { throw .malformedHead }

        body = try Self.body(headers, isOldVersion: isOldVersion)
        (rawPath, rawQuery) = (path, query)
        isLastOnConnection = headers.hasBareLineFeed
        if body == .chunked { isLastOnConnection = true }
        self.method = method
        self.isOldVersion = isOldVersion
        self.headers = headers.fields
        // The authority of an absolute target replaces Host (RFC 9112, section 3.2.2).
        if let authority {
            self.headers.lines.removeAll { $0.name.equalsIgnoringASCIICase("Host") }
            self.headers.append("Host", authority)
        }
    }

    /// The most digits of a `Content-Length` that is read as a number.
    static let mostLengthDigits = 18

    private static func body(_ headers: HeaderCollection, isOldVersion: Bool) throws(RequestRefusal) -> Body {
        if headers.lengths.count > 1 { throw .duplicateContentLength }
        if !headers.lengths.isEmpty, !headers.encodings.isEmpty { throw .contentLengthWithTransferEncoding }
        if let encoding = headers.encodings.first {
            guard headers.encodings.count == 1, encoding.equalsIgnoringASCIICase("chunked"), !isOldVersion else {
                throw .unsupportedTransferEncoding
            }
            return .chunked
        }
        guard let length = headers.lengths.first else { return .none }
        guard !length.isEmpty, ByteSet.digit.contains(length) else { throw .malformedHead }
        guard length.utf8.count <= Self.mostLengthDigits, let count = Int(length) else { throw .bodyTooLarge }
        return .length(count)
    }

    /// Authority, path and query of a target in origin, absolute or asterisk form (RFC 9112, section 3.2); no authority
    /// in other forms than the absolute one.
    private static func split(_ target: String) -> (authority: String?, path: String, query: String?) {
        // Most targets are a path alone, which is not copied.
        if target.utf8.first == 0x2F, !target.utf8.contains(0x3F) { return (nil, target, nil) }
        var rest = Substring(target).utf8
        var isRootMissing = false
        var host: String?
        // A scheme has neither a slash nor a question mark.
        if rest.first != 0x2F, let colon = rest.firstIndex(of: 0x3A), rest[colon...].starts(with: "://".utf8),
            !rest[..<colon].contains(0x2F), !rest[..<colon].contains(0x3F)
        {
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
        guard UInt(bitPattern: method) + UInt(strlen(method)) + 1 == start else { return false }
        return end + 1 == UInt(bitPattern: version)
    }
}

/// The header lines of a request, as the library reports them one by one.
struct HeaderCollection {
    private(set) var fields: HTTPFields
    /// Their approximate length on the wire: names, values, and four bytes a line.
    private(set) var byteCount: Int
    /// True if a name was no token, a value had control characters, or the library skipped bytes in the lines.
    private(set) var isMalformed: Bool
    /// True if a line ended with LF alone.
    private(set) var hasBareLineFeed: Bool
    /// The values of the lines `Host`, which decide where the request goes.
    private(set) var hosts: [String]
    /// The values of the lines `Content-Length` and `Transfer-Encoding`, which decide where the request ends.
    private(set) var lengths: [String]
    private(set) var encodings: [String]
    /// The end of the last line in the library's memory.
    private var end: UInt

    /// - Parameter version: The version at the end of the request line, in the library's memory.
    init(after version: UnsafePointer<CChar>) {
        end = UInt(bitPattern: version) + UInt(strlen(version))
        fields = HTTPFields()
        fields.lines.reserveCapacity(8)
        byteCount = 0
        (isMalformed, hasBareLineFeed) = (false, false)
        (hosts, lengths, encodings) = ([], [], [])
    }

    /// All header lines of an exchange's request, whose line begins with the method and ends with the version.
    static func collect(
        for exchange: Exchange,
        method: UnsafePointer<CChar>,
        version: UnsafePointer<CChar>
    ) -> HeaderCollection {
        var collection = HeaderCollection(after: version)
        withUnsafeMutablePointer(to: &collection) { pointer in
            _ = MHD_get_connection_values_n(exchange.connection, .HEADER_KIND, headerCallback, pointer)
        }
        let size = cmhd_head_size(exchange.connection)
        if size > 0 { collection.checkEnd(at: UInt(bitPattern: method) &+ UInt(size)) }
        if exchange.record.hasNamelessLine { collection.isMalformed = true }
        return collection
    }

    /// The header lines that the library has stored of the present request of a connection. They are not checked.
    static func lines(on connection: OpaquePointer) -> HTTPFields {
        var collection = HeaderCollection(after: "")
        withUnsafeMutablePointer(to: &collection) { pointer in
            _ = MHD_get_connection_values_n(connection, .HEADER_KIND, headerCallback, pointer)
        }
        return collection.fields
    }

    /// Compares the position of a line with the end of the one before it. The library reads the lines where they were
    /// received and puts NUL bytes for the colon and the line end:
    ///
    ///     H o s t 0   x 0 0 A c c e p t 0 …      CR LF: two bytes between the lines; LF alone: one
    ///
    /// The library ends a value at a NUL byte that the client sent, and stores folded lines elsewhere. In both cases
    /// the distance differs, and the library may determine another framing than the client meant.
    private mutating func checkPlace(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        let start = UInt(bitPattern: name.baseAddress)
        switch start &- end {
        case 2: break
        case 1: hasBareLineFeed = true
        default: isMalformed = true
        }
        let nameEnd = start &+ UInt(name.count)
        let valueStart = UInt(bitPattern: value.baseAddress)
        end = valueStart &+ UInt(value.count)
        guard let base = name.baseAddress, valueStart > nameEnd, valueStart - nameEnd < 1 << 20 else {
            isMalformed = true
            return
        }
        let between = UnsafeRawBufferPointer(start: base + name.count + 1, count: Int(valueStart - nameEnd) - 1)
        if !ByteSet.blank.contains(between) { isMalformed = true }
    }

    /// Compares the end of the last line with the end of the head. There must be exactly two line ends between them:
    /// the library also ends a head at a line that begins with a NUL byte or a colon, and a value at a NUL byte. A NUL
    /// byte before an LF alone is not detected, since it looks like CR LF.
    mutating func checkEnd(at headEnd: UInt) {
        guard !isMalformed else { return }
        let size = headEnd &- end
        guard (2...4).contains(size), let rest = UnsafePointer<UInt8>(bitPattern: end) else {
            isMalformed = true
            return
        }
        for index in 0..<Int(size) where ![0, 0x0A, 0x0D].contains(rest[index]) { isMalformed = true }
        if size < 4 { hasBareLineFeed = true }
    }

    mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        checkPlace(name: name, value: value)
        byteCount += name.count + value.count + 4
        var end = value.count
        while end > 0, ByteSet.blank.contains(value[end - 1]) { end -= 1 }
        let field = HTTPField(String(decoding: name, as: UTF8.self), String(decoding: value[..<end], as: UTF8.self))
        if name.isEmpty { isMalformed = true }
        if !ByteSet.token.contains(name) { isMalformed = true }
        if !ByteSet.value.contains(value) { isMalformed = true }
        // The library keeps blanks at the end of a value, where it would determine another framing than this check.
        if end < value.count {
            let framing = ["Transfer-Encoding", "Content-Length"]
            if framing.contains(where: field.name.equalsIgnoringASCIICase) { isMalformed = true }
        }
        if field.name.equalsIgnoringASCIICase("Host") {
            hosts.append(field.value)
        } else if field.name.equalsIgnoringASCIICase("Content-Length") {
            lengths.append(field.value)
        } else if field.name.equalsIgnoringASCIICase("Transfer-Encoding") {
            encodings.append(field.value)
        }
        fields.lines.append(field)
    }
}

/// The bytes that a part of a message may have.
struct ByteSet: Sendable {
    private let isMember: [Bool]

    private init(_ ranges: ClosedRange<UInt8>..., and others: String = "") {
        var isMember = [Bool](repeating: false, count: 256)
        for range in ranges {
            for byte in range { isMember[Int(byte)] = true }
        }
        for byte in others.utf8 { isMember[Int(byte)] = true }
        self.isMember = isMember
    }

    /// The bytes of methods and header names (RFC 9110, section 5.6.2).
    static let token = ByteSet(0x30...0x39, 0x41...0x5A, 0x61...0x7A, and: "!#$%&'*+-.^_`|~")
    /// The bytes of the host and port of an `http` URL (RFC 3986, section 3.2), without user names.
    static let host = ByteSet(0x30...0x39, 0x41...0x5A, 0x61...0x7A, and: "-._~%!$&'()*+,;=:[]")
    /// The bytes of a request target: no blanks and no control characters.
    static let target = ByteSet(0x21...0x7E, 0x80...0xFF)
    /// The bytes of a header value (RFC 9110, section 5.5): no control characters but the tab.
    static let value = ByteSet(0x09...0x09, 0x20...0x7E, 0x80...0xFF)
    /// Space and tab.
    static let blank = ByteSet(0x09...0x09, 0x20...0x20)
    static let digit = ByteSet(0x30...0x39)

    func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes where !isMember[Int(byte)] { return false }
        return true
    }

    func contains(_ text: String) -> Bool {
        for byte in text.utf8 where !isMember[Int(byte)] { return false }
        return true
    }

    func contains(_ byte: UInt8) -> Bool { isMember[Int(byte)] }
}
