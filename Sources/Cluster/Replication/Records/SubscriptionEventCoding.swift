internal import SessionCore

/// One byte for each case of a `SubscriptionEvent`; numbers are never reused.
private enum SubscriptionEventTag {
    static let subscribed: UInt8 = 1
    static let unsubscribed: UInt8 = 2
    static let failed: UInt8 = 3
    static let update: UInt8 = 4
    static let endOfSnapshot: UInt8 = 5
    static let clearSnapshot: UInt8 = 6
    static let lostUpdates: UInt8 = 7
    static let secondLevelFailed: UInt8 = 8
    static let secondLevelLostUpdates: UInt8 = 9
    static let realMaxFrequency: UInt8 = 10
}

/// The number that stands for an unlimited frequency.
private let unlimitedFrequency = -1.0

extension ByteWriter {
    mutating func subscriptionEvent(_ event: SubscriptionEvent) {
        switch event {
        case .subscribed(let items, let fields, let key, let command):
            byte(SubscriptionEventTag.subscribed)
            signed(items)
            signed(fields)
            optional(key) { $0.signed($1) }
            optional(command) { $0.signed($1) }
        case .unsubscribed(let isFinal):
            byte(SubscriptionEventTag.unsubscribed)
            bool(isFinal)
        case .failed(let code, let message):
            byte(SubscriptionEventTag.failed)
            signed(code)
            string(message)
        case .update(let update):
            byte(SubscriptionEventTag.update)
            self.update(update)
        case .endOfSnapshot(let item):
            byte(SubscriptionEventTag.endOfSnapshot)
            signed(item)
        case .clearSnapshot(let item):
            byte(SubscriptionEventTag.clearSnapshot)
            signed(item)
        case .lostUpdates(let count, let item):
            byte(SubscriptionEventTag.lostUpdates)
            signed(count)
            signed(item)
        case .secondLevelFailed(let code, let message, let key):
            byte(SubscriptionEventTag.secondLevelFailed)
            signed(code)
            string(message)
            string(key)
        case .secondLevelLostUpdates(let count, let key):
            byte(SubscriptionEventTag.secondLevelLostUpdates)
            signed(count)
            string(key)
        case .realMaxFrequency(let frequency):
            byte(SubscriptionEventTag.realMaxFrequency)
            optional(frequency) { $0.frequency($1) }
        }
    }

    /// An update contains all values, so that it can be read without the earlier ones.
    private mutating func update(_ update: ItemUpdate) {
        signed(update.itemPos)
        bool(update.isSnapshot)
        row(update.values)
        list(update.changed.positions) { $0.varint(UInt64($1)) }
        list(update.patches.sorted { $0.key < $1.key }) { writer, patch in
            writer.signed(patch.key)
            writer.string(patch.value)
        }
        optional(update.itemRow) { $0.row($1) }
    }

    /// A value is preceded by its length plus one; null is 0.
    private mutating func row(_ values: [String?]) {
        list(values) { writer, value in
            guard let value else { return writer.varint(0) }
            writer.varint(UInt64(value.utf8.count) + 1)
            writer.raw(value)
        }
    }

    private mutating func frequency(_ frequency: RealMaxFrequency) {
        switch frequency {
        case .unlimited: double(unlimitedFrequency)
        case .limited(let value): double(value)
        }
    }
}

extension ByteReader {
    mutating func subscriptionEvent(layout: SubscriptionLayout?) throws(CodingError) -> SubscriptionEvent {
        switch try byte() {
        case SubscriptionEventTag.subscribed:
            let (items, fields) = (try signed(), try signed())
            return .subscribed(
                itemCount: items,
                fieldCount: fields,
                keyPosition: try optionalSigned(),
                commandPosition: try optionalSigned()
            )
        case SubscriptionEventTag.unsubscribed: return .unsubscribed(isFinal: try bool())
        case SubscriptionEventTag.failed: return .failed(code: try signed(), message: try string())
        case SubscriptionEventTag.update: return .update(try update(layout))
        case SubscriptionEventTag.endOfSnapshot: return .endOfSnapshot(itemPos: try signed())
        case SubscriptionEventTag.clearSnapshot: return .clearSnapshot(itemPos: try signed())
        case SubscriptionEventTag.lostUpdates: return .lostUpdates(count: try signed(), itemPos: try signed())
        case SubscriptionEventTag.secondLevelFailed:
            return .secondLevelFailed(code: try signed(), message: try string(), key: try string())
        case SubscriptionEventTag.secondLevelLostUpdates:
            return .secondLevelLostUpdates(count: try signed(), key: try string())
        case SubscriptionEventTag.realMaxFrequency:
            let value = try optional { reader throws(CodingError) in try reader.double() }
            return .realMaxFrequency(value.map { $0 == unlimitedFrequency ? .unlimited : .limited($0) })
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
}
