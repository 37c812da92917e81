internal import JSONText

/// Reads the arguments of one notification from left to right.
///
///     TAG , first , second , last one, commas included
struct ArgumentReader {
    let tag: Tag
    /// The arguments not read yet; nil if there are none.
    private var rest: ArraySlice<UInt8>?
    private var position = 0
    /// The maximum number of items, or of fields, of a subscription.
    private static let maxSize = 1 << 20

    init(tag: Tag, rest: ArraySlice<UInt8>?) {
        self.tag = tag
        self.rest = rest
    }

    var isAtEnd: Bool { rest == nil }

    private var malformed: TLCPError { .malformedArgument(tag: tag.rawValue, position: position) }

    /// The bytes up to the next comma.
    mutating func bytes() throws(TLCPError) -> ArraySlice<UInt8> {
        position += 1
        guard let present = rest else { throw .missingArgument(tag: tag.rawValue, position: position) }
        guard let comma = present.firstIndex(of: UInt8(ascii: ",")) else {
            rest = nil
            return present
        }
        rest = present[(comma + 1)...]
        return present[..<comma]
    }

    /// The rest of the line, commas included.
    mutating func lastBytes() throws(TLCPError) -> ArraySlice<UInt8> {
        position += 1
        guard let present = rest else { throw .missingArgument(tag: tag.rawValue, position: position) }
        rest = nil
        return present
    }

    /// A text, percent-decoded.
    mutating func text() throws(TLCPError) -> String { try PercentCoding.decode(try bytes()) }

    /// The rest of the line, percent-decoded.
    mutating func lastText() throws(TLCPError) -> String { try PercentCoding.decode(try lastBytes()) }

    /// A whole number from 0.
    mutating func count() throws(TLCPError) -> Int {
        guard let value = WireNumber.count(try bytes()) else { throw malformed }
        return value
    }

    /// A number of items or fields. It is bounded, because clients allocate memory accordingly.
    mutating func size() throws(TLCPError) -> Int {
        let value = try count()
        if value > Self.maxSize { throw malformed }
        return value
    }

    /// A whole number from 1.
    mutating func ordinal() throws(TLCPError) -> Int {
        guard let value = WireNumber.count(try bytes()), value > 0 else { throw malformed }
        return value
    }

    /// A whole number of either sign.
    mutating func integer() throws(TLCPError) -> Int {
        guard let value = WireNumber.integer(try bytes()) else { throw malformed }
        return value
    }

    /// The identifier of a subscription.
    mutating func subscriptionID() throws(TLCPError) -> SubscriptionID { SubscriptionID(try ordinal()) }

    /// A value with its own syntax; nil from `parse` makes the argument malformed.
    mutating func value<Value>(_ parse: (String) -> Value?) throws(TLCPError) -> Value {
        guard let value = parse(try text()) else { throw malformed }
        return value
    }
}

extension [UInt8] {
    /// Starts a line.
    mutating func append(_ tag: Tag) { append(contentsOf: tag.rawValue.utf8) }

    /// Appends a comma and a number.
    mutating func append(argument value: Int) {
        append(UInt8(ascii: ","))
        append(decimal: value)
    }

    /// Appends a comma and a subscription's number.
    mutating func append(argument subscription: SubscriptionID) { append(argument: subscription.rawValue) }

    /// Appends a comma and a text, escaped where the grammar requires it.
    mutating func append(argument text: String) {
        append(UInt8(ascii: ","))
        PercentCoding.encode(argument: text, into: &self)
    }
}
