internal import JSONText

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
