internal import JSONText

/// Takes the arguments of one line from left to right.
///
///     TAG , first , second , last one, commas included
struct ArgumentReader {
    let tag: Tag
    /// What is left; nil when the last argument was taken or the line had none.
    private var rest: ArraySlice<UInt8>?
    private var position = 0

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

    /// All that is left.
    mutating func lastBytes() throws(TLCPError) -> ArraySlice<UInt8> {
        position += 1
        guard let present = rest else { throw .missingArgument(tag: tag.rawValue, position: position) }
        rest = nil
        return present
    }

    /// A text, percent-decoded.
    mutating func text() throws(TLCPError) -> String { try PercentCoding.decode(try bytes()) }

    /// The last text, percent-decoded.
    mutating func lastText() throws(TLCPError) -> String { try PercentCoding.decode(try lastBytes()) }

    /// A whole number from 0.
    mutating func count() throws(TLCPError) -> Int {
        guard let value = WireNumber.count(try bytes()) else { throw malformed }
        return value
    }

    /// A number of items or fields: clients set memory aside by it, so it has a bound beyond anything real.
    mutating func size() throws(TLCPError) -> Int {
        let value = try count()
        if value > 1 << 20 { throw malformed }
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

    /// A value with a syntax of its own; nil from `parse` is a malformed argument.
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

    /// Appends a comma and a text, escaped where the grammar demands it.
    mutating func append(argument text: String) {
        append(UInt8(ascii: ","))
        PercentCoding.encode(argument: text, into: &self)
    }
}
