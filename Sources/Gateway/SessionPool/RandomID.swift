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
