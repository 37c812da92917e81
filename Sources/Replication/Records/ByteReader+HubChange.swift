internal import EventHub
internal import JSONText
internal import SessionCore

extension ByteReader {
    /// Reads a change. `layout` returns the layout of a subscription's updates by its id. An update of a subscription
    /// without a layout is malformed, because no `subscribed` precedes it.
    mutating func change(
        layout: (String) -> SubscriptionLayout?
    ) throws(CodingError) -> HubChange {
        let tag = try byte()
        let id = try string()
        switch tag {
        case ChangeTag.clientAdded: return .clientAdded(id, try status())
        case ChangeTag.clientRemoved: return .clientRemoved(id)
        case ChangeTag.subscriptionAdded: return .subscriptionAdded(id, try properties())
        case ChangeTag.subscriptionRemoved: return .subscriptionRemoved(id)
        case ChangeTag.propertiesChanged: return .propertiesChanged(subscription: id, try properties())
        case ChangeTag.carried:
            return .carried(subscription: id, by: try optional { reader throws(CodingError) in try reader.string() })
        case ChangeTag.activity: return .activity(subscription: id, isActive: try bool())
        case ChangeTag.clientEvent: return .event(try clientEvent(), .client(id))
        case ChangeTag.subscriptionEvent:
            return .event(.subscription(try subscriptionEvent(layout: layout(id))), .subscription(id))
        default: throw .malformed
        }
    }

    mutating func properties() throws(CodingError) -> SubscriptionProperties {
        guard let mode = SubscriptionMode(rawValue: try string()) else { throw .malformed }
        var properties = SubscriptionProperties(mode: mode, items: try names(), fields: try names())
        properties.dataAdapter = try text()
        properties.selector = try text()
        properties.requestedSnapshot = try optional { reader throws(CodingError) in
            switch try reader.signed() {
            case -1: .no
            case 0: .yes
            case let length: .length(length)
            }
        }
        properties.requestedMaxFrequency = try optional { reader throws(CodingError) in
            switch try reader.double() {
            case -2: .unfiltered
            case -1: .unlimited
            case let value: .limited(value)
            }
        }
        properties.requestedBufferSize = try optional { reader throws(CodingError) in
            switch try reader.signed() {
            case -1: .unlimited
            case let value: .limited(value)
            }
        }
        properties.secondLevelFields = try optional { reader throws(CodingError) in try reader.names() }
        properties.secondLevelDataAdapter = try text()
        return properties
    }

    private mutating func names() throws(CodingError) -> NameSource {
        switch try byte() {
        case 0: .list(try list { reader throws(CodingError) in try reader.string() })
        case 1: .group(try string())
        default: throw .malformed
        }
    }

    private mutating func text() throws(CodingError) -> String? {
        try optional { reader throws(CodingError) in try reader.string() }
    }

    private mutating func number() throws(CodingError) -> Int? {
        try optional { reader throws(CodingError) in try reader.signed() }
    }

    private mutating func status() throws(CodingError) -> ClientStatus {
        guard let status = ClientStatus(rawValue: try string()) else { throw .malformed }
        return status
    }

    mutating func subscriptionEvent(layout: SubscriptionLayout?) throws(CodingError) -> SubscriptionEvent {
        switch try byte() {
        case 1:
            let (items, fields) = (try signed(), try signed())
            return .subscribed(
                itemCount: items,
                fieldCount: fields,
                keyPosition: try number(),
                commandPosition: try number()
            )
        case 2: return .unsubscribed(isFinal: try bool())
        case 3: return .failed(code: try signed(), message: try string())
        case 4: return .update(try update(layout))
        case 5: return .endOfSnapshot(itemPos: try signed())
        case 6: return .clearSnapshot(itemPos: try signed())
        case 7: return .lostUpdates(count: try signed(), itemPos: try signed())
        case 8: return .secondLevelFailed(code: try signed(), message: try string(), key: try string())
        case 9: return .secondLevelLostUpdates(count: try signed(), key: try string())
        case 10:
            let value = try optional { reader throws(CodingError) in try reader.double() }
            return .realMaxFrequency(value.map { $0 == -1 ? .unlimited : .limited($0) })
        default: throw .malformed
        }
    }

    private mutating func update(_ layout: SubscriptionLayout?) throws(CodingError) -> ItemUpdate {
        guard let layout else { throw .malformed }
        let item = try signed()
        let isSnapshot = try bool()
        let values = try row()
        var changed = FieldSet()
        for position in try list({ reader throws(CodingError) in try reader.varint() }) {
            guard position <= UInt64(values.count) else { throw .malformed }
            changed.insert(Int(position))
        }
        var patches: [Int: String] = [:]
        for _ in 0..<(try varint()) { patches[try signed()] = try string() }
        return ItemUpdate(
            layout: layout,
            itemPos: item,
            isSnapshot: isSnapshot,
            values: values,
            changed: changed,
            patches: patches,
            itemRow: try optional { reader throws(CodingError) in try reader.row() }
        )
    }

    private mutating func row() throws(CodingError) -> [String?] {
        try list { reader throws(CodingError) in
            let length = try reader.varint()
            return length == 0 ? nil : String(decoding: try reader.raw(length - 1), as: UTF8.self)
        }
    }

    private mutating func clientEvent() throws(CodingError) -> HubEvent {
        switch try byte() {
        case 1: return .status(try status())
        case 2: return .serverError(code: try signed(), message: try string())
        case 3:
            let name = try string()
            guard let json = try optional({ reader throws(CodingError) in try reader.blob() }) else {
                return .property(name: name, value: nil)
            }
            do {
                return .property(name: name, value: try JSONValue(parsing: json))
            } catch {
                throw .malformed
            }
        case 4: return .message(id: try string(), try outcome())
        case 5: return .legacy(try legacy())
        default: throw .malformed
        }
    }

    private mutating func outcome() throws(CodingError) -> MessageOutcome {
        switch try byte() {
        case 1: .processed(response: try string())
        case 2: .denied(code: try signed(), message: try string())
        case 3: .discarded
        case 4: .failed
        case 5: .aborted(sentOnNetwork: try bool())
        default: throw .malformed
        }
    }

    private mutating func legacy() throws(CodingError) -> LegacyStreamEvent {
        switch try byte() {
        case 1: .connectionEstablished
        case 2: .sessionStarted(polling: try bool())
        case 3: .bytesReceived(try signed())
        case 4: .activityWarning(try bool())
        case 5: .connectionClosed
        case 6: .connectionEnded(cause: try signed())
        case 7: .connectionFailure(reason: try string())
        case 8: .serverFailure(code: try signed(), message: try string())
        case 9: .dataError(reason: try string())
        case 10: .deviceTokenChange(deviceID: try text(), code: try number(), message: try text())
        case 11: .badgeReset(code: try number(), message: try text())
        default: throw .malformed
        }
    }
}
