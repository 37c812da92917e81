/// A pattern of names: `*` stands for any run of characters, everything else for itself.
///
/// Bytes are compared, not characters, so that names which only look alike stay different.
package struct WildcardPattern: Sendable, Hashable, CustomStringConvertible {
    /// The longest name that a pattern other than `*` covers, in bytes: bounds the time of a comparison.
    static let longestName = 4096

    /// The pattern as written.
    package let description: String

    /// A pattern.
    package init(_ text: String) { description = text }

    /// Whether every name matches.
    package var coversAll: Bool { description == "*" }

    /// Whether a name matches.
    package func matches(_ name: String) -> Bool {
        if coversAll { return true }
        let name = Array(name.utf8)
        return name.count <= Self.longestName && Self.matches(name, Array(description.utf8))
    }

    /// Goes back to the last asterisk only, which is enough: an earlier one can take over nothing that it cannot.
    private static func matches(_ name: [UInt8], _ pattern: [UInt8]) -> Bool {
        let asterisk = UInt8(ascii: "*")
        var (place, position) = (0, 0)
        var retry: (place: Int, position: Int)?
        while position < name.count {
            if place < pattern.count, pattern[place] == asterisk {
                retry = (place, position)
                place += 1
            } else if place < pattern.count, pattern[place] == name[position] {
                place += 1
                position += 1
            } else if let last = retry {
                retry = (last.place, last.position + 1)
                place = last.place + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == asterisk }
    }
}
