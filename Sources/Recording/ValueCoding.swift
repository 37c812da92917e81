internal import JSONText

/// A text that is the usual form of a decimal number: its digits as a whole number, and how many of them are decimals.
struct DecimalText: Equatable {
    /// The greatest number of digits.
    private static let mostDigits = 17

    let digits: Int64
    let scale: Int

    /// Parses a text; nil unless `text` returns the same bytes.
    init?(_ text: String) {
        var digits: Int64 = 0
        var count = 0
        var scale: Int?
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        for byte in text.utf8.dropFirst(isNegative ? 1 : 0) {
            if byte == UInt8(ascii: "."), scale == nil, count > 0 {
                scale = 0
                continue
            }
            guard (0x30...0x39).contains(byte), count < Self.mostDigits else { return nil }
            // Of numbers that begin with 0, only "0" and "0." are usual.
            if count == 1, digits == 0, scale == nil { return nil }
            digits = digits * 10 + Int64(byte - 0x30)
            count += 1
            scale = scale.map { $0 + 1 }
        }
        guard count > 0, scale != 0, !(isNegative && digits == 0) else { return nil }
        self.digits = isNegative ? -digits : digits
        self.scale = scale ?? 0
    }

    /// A number from its parts; nil if it has too many digits.
    init?(digits: Int64, scale: Int) {
        guard digits.magnitude < 100_000_000_000_000_000, scale < Self.mostDigits else { return nil }
        self.digits = digits
        self.scale = scale
    }

    var text: String {
        let sign = digits < 0 ? "-" : ""
        var text = String(digits.magnitude)
        guard scale > 0 else { return sign + text }
        if text.utf8.count <= scale { text = String(repeating: "0", count: scale + 1 - text.utf8.count) + text }
        return sign + text.dropLast(scale) + "." + text.suffix(scale)
    }
}

/// The recent values of one field that were written in full. A later value is written as a reference to an equal value
/// among them. Writer and reader keep the same values.
struct ValueMemory {
    /// The greatest number of values.
    private static let capacity = 2_048
    /// The longest value, in bytes.
    private static let longest = 256

    private var ring: [ExactText] = []
    private var count = 0
    private var positions: [ExactText: Int] = [:]

    /// The number of values that were added after a value; nil if the value is not remembered.
    func distance(of text: String) -> Int? { positions[ExactText(text)].map { count - 1 - $0 } }

    /// The value that a distance refers to.
    func text(at distance: Int) -> String? {
        guard distance < ring.count else { return nil }
        return ring[(count - 1 - distance) % Self.capacity].text
    }

    /// Adds a value that is not remembered; the oldest one makes room.
    mutating func add(_ text: String) {
        let exact = ExactText(text)
        guard text.utf8.count <= Self.longest, positions[exact] == nil else { return }
        if ring.count < Self.capacity {
            ring.append(exact)
        } else {
            positions[ring[count % Self.capacity]] = nil
            ring[count % Self.capacity] = exact
        }
        positions[exact] = count
        count += 1
    }
}

/// The values of one field, in both directions. A value is a number `n`, and more bytes for a text:
///
///     n        value
///     0        null
///     1        a text that follows
///     2 + 2d   the decimal number before it, for the same item, plus d: 0, −1, 1, −2, 2, …
///     3 + 2d   the value that was remembered as the d-th last value
///
/// Texts and distant numbers are remembered.
struct ValueCoder {
    /// A difference from which on a number is distant.
    private static let distant: UInt64 = 512

    private var memory = ValueMemory()

    /// Writes a value that follows another one of the same item.
    mutating func write(_ value: String?, after previous: String?, to column: inout [UInt8]) {
        guard let value else { return column.append(0) }
        let step = Self.step(from: previous, to: value)
        if let step, step < Self.distant { return column.append(number: 2 + 2 * step) }
        if let distance = memory.distance(of: value) { return column.append(number: 3 + 2 * distance) }
        memory.add(value)
        if let step { return column.append(number: 2 + 2 * step) }
        column.append(1)
        column.append(text: value)
    }

    /// Reads a value that follows another one of the same item.
    mutating func read(after previous: String?, from column: inout ByteReader) throws(ContentViolation) -> String? {
        let number = try column.number()
        if number == 0 { return nil }
        if number == 1 {
            let text = try column.text()
            memory.add(text)
            return text
        }
        let argument = (number - 2) / 2
        if number % 2 == 1 {
            guard argument < UInt64(Int32.max), let text = memory.text(at: Int(argument)) else {
                throw ContentViolation("a value refers to one that is not remembered")
            }
            return text
        }
        let step = Int64(argument / 2) ^ -Int64(argument % 2)
        guard let base = previous.flatMap(DecimalText.init),
            let value = DecimalText(digits: base.digits + step, scale: base.scale)?.text
        else { throw ContentViolation("a difference refers to a value that is not a number, or exceeds 17 digits") }
        if argument >= Self.distant { memory.add(value) }
        return value
    }

    /// The difference of two numbers with the same count of decimals, as a number that is not negative.
    private static func step(from previous: String?, to value: String) -> UInt64? {
        guard let base = previous.flatMap(DecimalText.init), let number = DecimalText(value), base.scale == number.scale
        else { return nil }
        let difference = number.digits - base.digits
        return UInt64(bitPattern: (difference << 1) ^ (difference >> 63))
    }
}
