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
