internal import CMicroHTTPD

/// The header lines of a request, as the library hands them over one by one.
struct HeaderCollection {
    /// The lines so far.
    private(set) var fields = HTTPFields()
    /// Their length on the wire, about: names, values, and four bytes a line.
    private(set) var byteCount = 0
    /// True if a name was no token or a value had control characters.
    private(set) var isMalformed = false

    /// All header lines of a connection's present request.
    static func collect(from connection: OpaquePointer) -> HeaderCollection {
        var collection = HeaderCollection()
        withUnsafeMutablePointer(to: &collection) { pointer in
            _ = MHD_get_connection_values_n(connection, .HEADER_KIND, headerCallback, pointer)
        }
        return collection
    }

    mutating func add(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        byteCount += name.count + value.count + 4
        let end = value.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? 0
        let field = HTTPField(String(decoding: name, as: UTF8.self), String(decoding: value[..<end], as: UTF8.self))
        if name.isEmpty || !name.allSatisfy(\.isTokenCharacter) || value.contains(where: \.isControlCharacter) {
            isMalformed = true
        }
        // The library leaves blanks at the end of a value: here it would understand another framing than we do.
        if end < value.count && ["Transfer-Encoding", "Content-Length"].contains(where: field.isNamed) {
            isMalformed = true
        }
        fields.lines.append(field)
    }
}

extension UInt8 {
    /// RFC 9110, section 5.6.2: what methods and header names are made of.
    var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// What the host and port of an `http` URL are made of (RFC 3986, section 3.2), user names left out.
    var isHostCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~%!$&'()*+,;=:[]".utf8.contains(self)
        }
    }

    /// Space or tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// What a header value must not contain (RFC 9110, section 5.5); the tab is allowed.
    var isControlCharacter: Bool {
        self < 0x20 && self != 0x09 || self == 0x7F
    }
}
