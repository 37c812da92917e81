// U,<sub>,<item>,<field list>
// SUBOK,<sub>,<items>,<fields>     SUBCMD,<sub>,<items>,<fields>,<key position>,<command position>
// UNSUB,<sub>    EOS,<sub>,<item>    CS,<sub>,<item>    OV,<sub>,<item>,<lost>
// CONF,<sub>,<frequency>[,filtered|unfiltered]       a missing last argument means filtered
extension ServerNotification {
    static func parseSubscription(
        _ tag: Tag,
        _ arguments: inout ArgumentReader
    ) throws(TLCPError) -> ServerNotification {
        let subscription = try arguments.subscriptionID()
        switch tag {
        case .subOK:
            return .subOK(subscription, items: try arguments.size(), fields: try arguments.size())
        case .subCmd:
            return .subCmd(
                subscription,
                items: try arguments.size(),
                fields: try arguments.size(),
                keyPosition: try arguments.ordinal(),
                commandPosition: try arguments.ordinal()
            )
        case .eos:
            return .eos(subscription, item: try arguments.ordinal())
        case .cs:
            return .cs(subscription, item: try arguments.ordinal())
        case .ov:
            return .ov(subscription, item: try arguments.ordinal(), lost: try arguments.count())
        case .conf:
            let frequency = try arguments.value(RealMaxFrequency.init(wire:))
            let isFiltered = arguments.isAtEnd ? true : try arguments.lastText() != "unfiltered"
            return .conf(subscription, frequency, isFiltered: isFiltered)
        case .update:
            return .update(
                subscription,
                item: try arguments.ordinal(),
                fields: FieldList(try arguments.lastBytes())
            )
        default:
            return .unsub(subscription)
        }
    }

    func encodeSubscription(into line: inout [UInt8]) {
        line.append(tag)
        switch self {
        case .update(let subscription, let item, let fields):
            line.append(argument: subscription)
            line.append(argument: item)
            line.append(UInt8(ascii: ","))
            line.append(contentsOf: fields.bytes)
        case .subOK(let subscription, let items, let fields):
            line.append(argument: subscription)
            line.append(argument: items)
            line.append(argument: fields)
        case .subCmd(let subscription, let items, let fields, let keyPosition, let commandPosition):
            line.append(argument: subscription)
            line.append(argument: items)
            line.append(argument: fields)
            line.append(argument: keyPosition)
            line.append(argument: commandPosition)
        case .unsub(let subscription):
            line.append(argument: subscription)
        case .eos(let subscription, let item), .cs(let subscription, let item):
            line.append(argument: subscription)
            line.append(argument: item)
        case .ov(let subscription, let item, let lost):
            line.append(argument: subscription)
            line.append(argument: item)
            line.append(argument: lost)
        case .conf(let subscription, let frequency, let isFiltered):
            line.append(argument: subscription)
            line.append(argument: frequency.wire)
            line.append(argument: isFiltered ? "filtered" : "unfiltered")
        default:
            break
        }
    }
}

/// The arguments of `U,<sub>,<item>,<field list>`.
///
/// Nearly all lines are updates: they have a path of their own, without an argument reader and without a copy of
/// `ServerNotification`.
package struct UpdateLine: Sendable, Equatable {
    /// The subscription.
    package let subscription: SubscriptionID
    /// The 1-based position of the item.
    package let item: Int
    /// The values.
    package let fields: FieldList

    /// An update.
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
