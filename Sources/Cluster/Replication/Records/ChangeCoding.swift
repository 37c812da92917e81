internal import Changes
internal import SessionCore

/// One byte for each case of a `Change`; numbers are never reused.
private enum ChangeTag {
    static let clientAdded: UInt8 = 1
    static let clientRemoved: UInt8 = 2
    static let subscriptionAdded: UInt8 = 3
    static let subscriptionRemoved: UInt8 = 4
    static let carried: UInt8 = 5
    static let activity: UInt8 = 6
    static let clientEvent: UInt8 = 7
    static let subscriptionEvent: UInt8 = 8
    static let propertiesChanged: UInt8 = 9
}

/// One byte for each case of a `NameSource`.
private enum NameSourceTag {
    static let list: UInt8 = 0
    static let group: UInt8 = 1
}

/// The numbers that stand for limits without a number.
private enum LimitCode {
    static let unlimited = -1
    static let unfiltered = -2
    static let noSnapshot = -1
    static let wholeSnapshot = 0
}

extension ByteWriter {
    mutating func change(_ change: Change) {
        switch change {
        case .client(let id, let change): self.change(change, of: id.rawValue)
        case .subscription(let id, let change): self.change(change, of: id.rawValue)
        }
    }

    private mutating func change(_ change: ClientChange, of id: String) {
        switch change {
        case .added(let status):
            tagged(ChangeTag.clientAdded, id)
            string(status.rawValue)
        case .removed:
            tagged(ChangeTag.clientRemoved, id)
        case .event(let event):
            tagged(ChangeTag.clientEvent, id)
            clientEvent(event)
        }
    }

    private mutating func change(_ change: SubscriptionChange, of id: String) {
        switch change {
        case .added(let properties):
            tagged(ChangeTag.subscriptionAdded, id)
            self.properties(properties)
        case .removed:
            tagged(ChangeTag.subscriptionRemoved, id)
        case .propertiesChanged(let properties):
            tagged(ChangeTag.propertiesChanged, id)
            self.properties(properties)
        case .carried(let client):
            tagged(ChangeTag.carried, id)
            optional(client) { $0.string($1.rawValue) }
        case .activity(let isActive):
            tagged(ChangeTag.activity, id)
            bool(isActive)
        case .event(let event):
            tagged(ChangeTag.subscriptionEvent, id)
            subscriptionEvent(event)
        }
    }

    private mutating func tagged(_ tag: UInt8, _ id: String) {
        byte(tag)
        string(id)
    }

    mutating func properties(_ properties: SubscriptionProperties) {
        string(properties.mode.rawValue)
        names(properties.items)
        names(properties.fields)
        optional(properties.dataAdapter) { $0.string($1) }
        optional(properties.selector) { $0.string($1) }
        optional(properties.requestedSnapshot) { writer, snapshot in
            switch snapshot {
            case .no: writer.signed(LimitCode.noSnapshot)
            case .yes: writer.signed(LimitCode.wholeSnapshot)
            case .length(let length): writer.signed(length)
            }
        }
        optional(properties.requestedMaxFrequency) { writer, frequency in
            switch frequency {
            case .unfiltered: writer.double(Double(LimitCode.unfiltered))
            case .unlimited: writer.double(Double(LimitCode.unlimited))
            case .limited(let value): writer.double(value)
            }
        }
        optional(properties.requestedBufferSize) { writer, size in
            switch size {
            case .unlimited: writer.signed(LimitCode.unlimited)
            case .limited(let value): writer.signed(value)
            }
        }
        optional(properties.secondLevelFields) { $0.names($1) }
        optional(properties.secondLevelDataAdapter) { $0.string($1) }
    }

    private mutating func names(_ source: NameSource) {
        switch source {
        case .list(let names):
            byte(NameSourceTag.list)
            list(names) { $0.string($1) }
        case .group(let name):
            byte(NameSourceTag.group)
            string(name)
        }
    }
}

extension ByteReader {
    /// Reads a change. `layout` returns the layout of a subscription's updates by its id. An update of a subscription
    /// without a layout is malformed, because no `subscribed` precedes it.
    mutating func change(
        layout: (String) -> SubscriptionLayout?
    ) throws(CodingError) -> Change {
        let tag = try byte()
        let id = try string()
        if let change = try clientChange(tag) { return .client(ClientID(id), change) }
        return .subscription(SubscriptionID(id), try subscriptionChange(tag, layout: layout(id)))
    }

    /// Nil for the tag of a change of a subscription.
    private mutating func clientChange(_ tag: UInt8) throws(CodingError) -> ClientChange? {
        switch tag {
        case ChangeTag.clientAdded: .added(try status())
        case ChangeTag.clientRemoved: .removed
        case ChangeTag.clientEvent: .event(try clientEvent())
        default: nil
        }
    }

    private mutating func subscriptionChange(
        _ tag: UInt8,
        layout: SubscriptionLayout?
    ) throws(CodingError) -> SubscriptionChange {
        switch tag {
        case ChangeTag.subscriptionAdded: .added(try properties())
        case ChangeTag.subscriptionRemoved: .removed
        case ChangeTag.propertiesChanged: .propertiesChanged(try properties())
        case ChangeTag.carried: .carried(by: try optionalString().map { ClientID($0) })
        case ChangeTag.activity: .activity(isActive: try bool())
        case ChangeTag.subscriptionEvent: .event(try subscriptionEvent(layout: layout))
        default: throw .malformed
        }
    }

    mutating func properties() throws(CodingError) -> SubscriptionProperties {
        guard let mode = SubscriptionMode(rawValue: try string()) else { throw .malformed }
        var properties = SubscriptionProperties(mode: mode, items: try names(), fields: try names())
        properties.dataAdapter = try optionalString()
        properties.selector = try optionalString()
        properties.requestedSnapshot = try optional { reader throws(CodingError) in
            switch try reader.signed() {
            case LimitCode.noSnapshot: .no
            case LimitCode.wholeSnapshot: .yes
            case let length: .length(length)
            }
        }
        properties.requestedMaxFrequency = try optional { reader throws(CodingError) in
            switch try reader.double() {
            case Double(LimitCode.unfiltered): .unfiltered
            case Double(LimitCode.unlimited): .unlimited
            case let value: .limited(value)
            }
        }
        properties.requestedBufferSize = try optional { reader throws(CodingError) in
            switch try reader.signed() {
            case LimitCode.unlimited: .unlimited
            case let value: .limited(value)
            }
        }
        properties.secondLevelFields = try optional { reader throws(CodingError) in try reader.names() }
        properties.secondLevelDataAdapter = try optionalString()
        return properties
    }

    private mutating func names() throws(CodingError) -> NameSource {
        switch try byte() {
        case NameSourceTag.list: .list(try strings())
        case NameSourceTag.group: .group(try string())
        default: throw .malformed
        }
    }
}
