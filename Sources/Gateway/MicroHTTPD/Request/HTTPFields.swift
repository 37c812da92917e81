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
        lines.first { $0.isNamed(name) }?.value
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

extension String {
    /// Compares bytes, taking `A`–`Z` as `a`–`z`: how HTTP compares header names.
    func equalsIgnoringASCIICase(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return self == other || zip(utf8, other.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}

extension String.UTF8View {
    /// Whether all bytes have a property; over the bytes in memory, which is faster than one by one.
    @inline(__always)
    func hasOnly(_ property: (UInt8) -> Bool) -> Bool {
        withContiguousStorageIfAvailable { $0.allSatisfy(property) } ?? allSatisfy(property)
    }
}

extension UInt8 {
    var lowercasedASCII: UInt8 {
        self >= 0x41 && self <= 0x5A ? self | 0x20 : self
    }
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
