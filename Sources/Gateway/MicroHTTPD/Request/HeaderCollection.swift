internal import CMicroHTTPD
internal import Glibc

/// The header lines of a request, as the library reports them one by one.
struct HeaderCollection {
    /// The lines so far.
    private(set) var fields = HTTPFields()
    /// Their approximate length on the wire: names, values, and four bytes a line.
    private(set) var byteCount = 0
    /// True if a name was no token, a value had control characters, or the library skipped bytes in the lines.
    private(set) var isMalformed = false
    /// True if a line ended with LF alone.
    private(set) var hasBareLineFeed = false
    /// The end of the last line in the library's memory.
    private var end: UInt

    /// - Parameter version: The version at the end of the request line, in the library's memory.
    init(after version: UnsafePointer<CChar>) {
        end = UInt(bitPattern: version) + UInt(strlen(version))
        fields.lines.reserveCapacity(8)
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
        if !between.allSatisfy(\.isBlank) { isMalformed = true }
    }

    /// Compares the end of the last line with the end of the head. There must be exactly two line ends between them:
    /// the library also ends a head at a line that begins with a NUL byte or a colon, and a value at a NUL byte. A NUL
    /// byte before an LF alone is not detected, since it looks like CR LF.
    mutating func checkEnd(at headEnd: UInt) {
        guard !isMalformed else { return }
        let size = headEnd &- end
        guard (2...4).contains(size), let rest = UnsafePointer<UInt8>(bitPattern: end),
            UnsafeBufferPointer(start: rest, count: Int(size)).allSatisfy({ $0 == 0 || $0 == 0x0A || $0 == 0x0D })
        else {
            isMalformed = true
            return
        }
        if size < 4 { hasBareLineFeed = true }
    }

    mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        checkPlace(name: name, value: value)
        byteCount += name.count + value.count + 4
        let end = value.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? 0
        let field = HTTPField(String(decoding: name, as: UTF8.self), String(decoding: value[..<end], as: UTF8.self))
        if name.isEmpty || !name.allSatisfy(\.isTokenCharacter) || value.contains(where: \.isControlCharacter) {
            isMalformed = true
        }
        // The library keeps blanks at the end of a value, where it would determine another framing than this check.
        if end < value.count && ["Transfer-Encoding", "Content-Length"].contains(where: field.isNamed) {
            isMalformed = true
        }
        fields.lines.append(field)
    }
}

extension UInt8 {
    /// The bytes of methods and header names (RFC 9110, section 5.6.2).
    var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// The bytes of the host and port of an `http` URL (RFC 3986, section 3.2), without user names.
    var isHostCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        // -._~%!$&'()*+,;=:[]
        case 0x21, 0x24...0x2E, 0x3A, 0x3B, 0x3D, 0x5B, 0x5D, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Space or tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// The bytes that a header value must not contain (RFC 9110, section 5.5); the tab is allowed.
    var isControlCharacter: Bool {
        self < 0x20 && self != 0x09 || self == 0x7F
    }
}
