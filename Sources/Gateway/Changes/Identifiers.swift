/// The id of a client, as REST shows it.
package struct ClientID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The id.
    package let rawValue: String
    /// Wraps an id.
    package init(_ rawValue: String) { self.rawValue = rawValue }
    /// The id.
    package var description: String { rawValue }

    /// The order of the texts.
    package static func < (lhs: ClientID, rhs: ClientID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The id of a subscription resource, as REST shows it.
package struct SubscriptionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The id.
    package let rawValue: String
    /// Wraps an id.
    package init(_ rawValue: String) { self.rawValue = rawValue }
    /// The id.
    package var description: String { rawValue }

    /// The order of the texts.
    package static func < (lhs: SubscriptionID, rhs: SubscriptionID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The subject of changes: a client or a subscription resource.
package enum TopicID: Hashable, Sendable {
    /// A client.
    case client(ClientID)
    /// A subscription resource.
    case subscription(SubscriptionID)
}

/// Generates ids that cannot be guessed: a letter for the kind, then 80 random bits in base 32.
package enum RandomID {
    private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)

    /// A fresh id with this first letter.
    package static func make(prefix: Character) -> String {
        var generator = SystemRandomNumberGenerator()
        return make(prefix: prefix, using: &generator)
    }

    /// A fresh id from a given source of random numbers.
    package static func make(prefix: Character, using generator: inout some RandomNumberGenerator) -> String {
        var bytes: [UInt8] = []
        for _ in 0..<16 { bytes.append(character(of: generator.next())) }
        return String(prefix) + String(decoding: bytes, as: UTF8.self)
    }

    /// The character of ids for the lowest five bits of a number.
    package static func character(of bits: UInt64) -> UInt8 { alphabet[Int(bits & 31)] }
}
