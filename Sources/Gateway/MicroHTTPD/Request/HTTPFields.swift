/// Header lines in their order.
package struct HTTPFields: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The lines, repeated names included.
    package var lines: [HTTPField]

    /// Lines in the given order.
    package init(_ lines: [HTTPField] = []) {
        self.lines = lines
    }

    /// Lines in the given order.
    package init(arrayLiteral elements: HTTPField...) {
        lines = elements
    }

    /// The value of the first line of that name, compared without regard to case; nil if there is none.
    package subscript(name: String) -> String? {
        for line in lines where line.isNamed(name) { return line.value }
        return nil
    }

    /// The values of all lines of that name, in order, not split at commas.
    package func values(of name: String) -> [String] {
        var values: [String] = []
        for line in lines where line.isNamed(name) { values.append(line.value) }
        return values
    }

    /// The values of all lines of that name, in order, joined by commas; nil if there is none.
    package func joined(_ name: String) -> String? {
        var joined: String?
        for line in lines where line.isNamed(name) { joined = joined.map { "\($0), \(line.value)" } ?? line.value }
        return joined
    }

    /// Adds a line at the end.
    package mutating func append(_ name: String, _ value: String) {
        if lines.isEmpty { lines.reserveCapacity(Self.usualCount) }
        lines.append(HTTPField(name, value))
    }

    /// The number of lines that most responses do not exceed.
    private static let usualCount = 8
}

/// One header line of a request or response.
package struct HTTPField: Sendable, Hashable {
    /// The name as written on the wire; comparisons ignore its case.
    package var name: String
    /// The value without surrounding white space. Bytes that are not UTF-8 are replaced by U+FFFD.
    package var value: String

    /// A header line. In responses, a line with a name or value that is not allowed on the wire is left out.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Compares the name without regard to case.
    func isNamed(_ name: String) -> Bool {
        self.name.equalsIgnoringASCIICase(name)
    }
}

extension String {
    /// Compares bytes, taking `A`–`Z` as `a`–`z`: how HTTP compares header names.
    func equalsIgnoringASCIICase(_ other: String) -> Bool {
        if self == other { return true }
        guard utf8.count == other.utf8.count else { return false }
        for (byte, otherByte) in zip(utf8, other.utf8) where byte.lowercasedASCII != otherByte.lowercasedASCII {
            return false
        }
        return true
    }
}

extension UInt8 {
    var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
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
    /// Digits.
    static let digit = ByteSet(0x30...0x39)

    /// Whether all bytes are in the set.
    func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes where !isMember[Int(byte)] { return false }
        return true
    }

    /// Whether all bytes of a text are in the set.
    func contains(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { contains(UnsafeRawBufferPointer($0)) }
    }

    /// Whether a byte is in the set.
    func contains(_ byte: UInt8) -> Bool { isMember[Int(byte)] }
}
