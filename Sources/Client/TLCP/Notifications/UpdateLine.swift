/// The arguments of `U,<sub>,<item>,<field list>`.
///
/// Nearly all lines are updates: they have a path of their own, without an argument reader and without a copy of
/// `ServerNotification`.
package struct UpdateLine: Sendable, Equatable {
    package let subscription: SubscriptionID
    /// The 1-based position of the item.
    package let item: Int
    package let fields: FieldList

    package init(_ subscription: SubscriptionID, item: Int, _ fields: FieldList) {
        self.subscription = subscription
        self.item = item
        self.fields = fields
    }

    /// Parses a line without its CR-LF; nil for a line with another tag.
    package init?(parsing line: ArraySlice<UInt8>) throws(TLCPError) {
        guard line.count >= 2, line[line.startIndex] == UInt8(ascii: "U"),
            line[line.startIndex + 1] == UInt8(ascii: ",")
        else { return nil }
        var index = line.startIndex + 2
        guard let subscription = WireNumber.count(in: line, from: &index), subscription > 0 else {
            throw .malformedArgument(tag: Tag.update.rawValue, position: 1)
        }
        guard index < line.endIndex else { throw .missingArgument(tag: Tag.update.rawValue, position: 2) }
        index += 1
        guard let item = WireNumber.count(in: line, from: &index), item > 0 else {
            throw .malformedArgument(tag: Tag.update.rawValue, position: 2)
        }
        guard index < line.endIndex else { throw .missingArgument(tag: Tag.update.rawValue, position: 3) }
        self.subscription = SubscriptionID(subscription)
        self.item = item
        fields = FieldList(line[(index + 1)...])
    }
}

/// The last argument of `U`, in wire format. `ItemRow` decodes it, `RowEncoder` encodes it.
///
///     list  = token *( "|" token )
///     token = ""         this field unchanged        "^4"      this and the next three unchanged
///             "#" "$"    null, empty                 "^P…"     JSON Patch of the present value
///             other      the value, escaped          "^T…"     TLCP-diff of the present value
package struct FieldList: Sendable, Hashable {
    /// The bytes, a slice of the line.
    package let bytes: ArraySlice<UInt8>

    /// Wraps the bytes of a line.
    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }
}
