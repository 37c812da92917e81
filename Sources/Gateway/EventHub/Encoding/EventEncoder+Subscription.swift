internal import Changes
internal import JSONText
internal import SessionCore

/// The members of a subscription's events.
extension EventEncoder {
    mutating func writeMembers(of event: SubscriptionEvent, _ context: TopicContext, _ variant: EventVariant) {
        switch event {
        case .subscribed(let itemCount, let fieldCount, let keyPosition, let commandPosition):
            json.member("itemCount", itemCount)
            json.member("fieldCount", fieldCount)
            write("keyPosition", keyPosition)
            write("commandPosition", commandPosition)
            json.member("fieldKeys", context.naming?.usesNames == false ? "position" : "name")
        case .unsubscribed(let isFinal):
            json.member("active", !isFinal)
        case .update(let update):
            writeUpdate(update, context, variant)
        case .endOfSnapshot(let item), .clearSnapshot(let item):
            writeItem(item, context)
        case .lostUpdates(let count, let item):
            writeLoss(of: count, item: item, by: "server", context)
        case .failed(let code, let message):
            json.member("code", code)
            json.member("message", message)
            json.member("type", refusalText.type)
            json.member("detail", refusalText.detail(UpstreamRefusal(code: code, message: message)))
        case .secondLevelFailed(let code, let message, let key):
            json.member("key", key)
            json.member("code", code)
            json.member("message", message)
        case .secondLevelLostUpdates(let count, let key):
            json.member("key", key)
            json.member("count", count)
        case .realMaxFrequency(let frequency):
            json.key("value" as StaticString)
            json.write(frequency)
        }
    }

    mutating func writeConflated(_ update: ConflatedUpdate, _ context: TopicContext, _ variant: EventVariant) {
        let newest = update.newest
        writeItem(newest.itemPos, context)
        json.member("snapshot", update.isSnapshot)
        if context.policy == .conflateByKey {
            json.member("key", newest.key)
            json.member("command", update.command)
        }
        var values = newest.values
        if let position = newest.layout.commandPosition, values.indices.contains(position - 1) {
            values[position - 1] = update.command
        }
        json.key("fields" as StaticString)
        writeFields(values, context, only: update.changed)
        json.member("conflated", update.count)
        if variant.sendsAllFields {
            json.key("values" as StaticString)
            writeFields(values, context, only: nil)
        }
        writeInvalid(context)
    }

    mutating func writeLoss(of count: Int, item: Int, by origin: String, _ context: TopicContext) {
        writeItem(item, context)
        json.member("count", count)
        json.member("by", origin)
    }

    private mutating func writeUpdate(_ update: ItemUpdate, _ context: TopicContext, _ variant: EventVariant) {
        writeItem(update.itemPos, context)
        json.member("snapshot", update.isSnapshot)
        if context.policy == .conflateByKey {
            json.member("key", update.key)
            json.member("command", update.command)
        }
        json.key("fields" as StaticString)
        writeFields(update.values, context, only: update.changed)
        if !update.patches.isEmpty { writePatches(update.patches, context) }
        if variant.sendsAllFields {
            json.key("values" as StaticString)
            writeFields(update.values, context, only: nil)
        }
        writeInvalid(context)
    }

    private mutating func writeItem(_ position: Int, _ context: TopicContext) {
        json.member("item", context.itemName(at: position))
        json.member("itemPos", position)
    }

    private mutating func writeFields(_ values: [String?], _ context: TopicContext, only changed: FieldSet?) {
        json.beginObject()
        for (index, value) in values.enumerated() where changed?.contains(index + 1) ?? true {
            writeKey(index + 1, context)
            if let types, let value, index < types.count {
                write(value, as: types[index], at: index + 1)
            } else {
                json.string(value)
            }
        }
        json.endObject()
    }

    private mutating func write(_ value: String, as type: FieldType, at position: Int) {
        if TypedValue.write(value, as: type, to: &json) || invalid.contains(position) { return }
        invalid.append(position)
        invalidCount &+= 1
    }

    /// Writes the names of the fields whose values are not of their types; nothing if all values are.
    private mutating func writeInvalid(_ context: TopicContext) {
        if invalid.isEmpty { return }
        json.key("invalid" as StaticString)
        json.beginArray()
        for position in invalid { json.string(context.properties?.fields.names?[position - 1]) }
        json.endArray()
        invalid.removeAll(keepingCapacity: true)
    }

    private mutating func writePatches(_ patches: [Int: String], _ context: TopicContext) {
        json.key("patches" as StaticString)
        json.beginObject()
        for (position, patch) in patches.sorted(by: { $0.key < $1.key }) {
            writeKey(position, context)
            // JSON may have line ends between tokens; an event has to be one line.
            json.raw(patch.utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        }
        json.endObject()
    }

    private mutating func writeKey(_ position: Int, _ context: TopicContext) {
        if let naming = context.naming {
            naming.write(position, to: &json)
        } else {
            json.key(String(position))
        }
    }

    mutating func write(_ name: StaticString, _ value: Int?) {
        json.key(name)
        if let value { json.number(value) } else { json.null() }
    }
}

extension JSONBytes {
    /// Writes a frequency limit: a number, `unlimited` or null.
    mutating func write(_ frequency: RealMaxFrequency?) {
        switch frequency {
        case .limited(let limit): shortest(limit)
        case .unlimited: string("unlimited")
        case nil: null()
        }
    }

    /// Writes a number, without a fraction where it has none.
    mutating func shortest(_ value: Double) {
        if let whole = Int(exactly: value) { number(whole) } else { number(value) }
    }
}
