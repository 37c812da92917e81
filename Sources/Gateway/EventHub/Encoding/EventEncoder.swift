internal import Changes
internal import JSONText
internal import SessionCore

/// Encodes events. An encoder reuses its memory for all of them.
struct EventEncoder {
    /// The event that was encoded last, with the framing of the format and without that of HTTP.
    var json = JSONBytes(capacity: 1024)
    var epoch: [UInt8]

    private(set) var refusalText: RefusalText
    /// The types of the fields of the present event; nil: all values are text.
    private(set) var types: [FieldType]?
    /// The positions of the fields of the present event whose values are not of their types.
    var invalid: [Int] = []
    /// How many values were written as text because they are not of the types of their fields.
    var invalidCount: UInt64 = 0

    /// An encoder whose ids have this epoch.
    init(epoch: String, refusalText: RefusalText = .plain) {
        self.epoch = Array(epoch.utf8)
        self.refusalText = refusalText
    }

    // MARK: - Events of a topic

    /// Encodes an event of a topic.
    ///
    /// - Parameter types: The types of the fields, for a typed variant; nil: they are not known.
    mutating func encode(
        _ event: HubEvent,
        sequence: UInt64,
        of context: TopicContext,
        as variant: EventVariant,
        _ types: [FieldType]? = nil
    ) {
        json.reset()
        self.types = variant.isTyped ? types : nil
        if case .subscription(.update(let update)) = event {
            begin("update", sequence, of: context, variant.format)
            writeUpdate(update, context, variant)
        } else {
            begin(event.name, sequence, of: context, variant.format)
            switch event {
            case .client(let event): writeMembers(of: event)
            case .subscription(let event): writeMembers(of: event, context, variant)
            }
        }
        json.endObject()
        end(variant.format)
    }

    /// Encodes a conflated update, with `types` as for an event.
    mutating func encode(
        _ update: ConflatedUpdate,
        sequence: UInt64,
        of context: TopicContext,
        as variant: EventVariant,
        _ types: [FieldType]? = nil
    ) {
        json.reset()
        self.types = variant.isTyped ? types : nil
        begin("update", sequence, of: context, variant.format)
        writeConflated(update, context, variant)
        json.endObject()
        end(variant.format)
    }

    /// Encodes the event that reports updates of an item that were dropped from a stream's window.
    mutating func encodeLoss(
        of count: Int,
        item: Int,
        sequence: UInt64,
        of context: TopicContext,
        as variant: EventVariant
    ) {
        json.reset()
        begin("lost-updates", sequence, of: context, variant.format)
        writeLoss(of: count, item: item, by: "gateway", context)
        json.endObject()
        end(variant.format)
    }

    // MARK: - Framing

    // The texts before, between and after the members of an event. The data is one line: JSON escapes its line ends.
    //
    //     Server-Sent Events      NDJSON
    //
    //     event: update           {"event":"update","id":"f3a9-1042","data":{"client":…}}
    //     id: f3a9-1042
    //     data: {"client":…}
    //     (empty line)

    /// Opens an event. The JSON text of its data follows; the data of an event of a topic has the members that all events
    /// of the topic have.
    mutating func begin(
        _ name: StaticString,
        _ sequence: UInt64?,
        of context: TopicContext? = nil,
        _ format: EventFormat
    ) {
        let isSSE = format == .serverSentEvents
        append(isSSE ? "event: " : #"{"event":""#)
        append(name)
        if let sequence {
            append(isSSE ? "\nid: " : #"","id":""#)
            json.bytes.append(contentsOf: epoch)
            json.bytes.append(UInt8(ascii: "-"))
            json.bytes.append(decimal: Int(truncatingIfNeeded: sequence))
        }
        append(isSSE ? "\ndata: " : #"","data":"#)
        if let context {
            json.beginObject()
            json.raw(context.commonMembers)
        }
    }

    mutating func end(_ format: EventFormat) { append(format == .serverSentEvents ? "\n\n" : "}\n") }

    mutating func append(_ text: StaticString) {
        json.bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    // MARK: - Members of updates

    mutating func writeLoss(of count: Int, item: Int, by origin: String, _ context: TopicContext) {
        writeItem(item, context)
        json.member("count", count)
        json.member("by", origin)
    }

    mutating func writeUpdate(_ update: ItemUpdate, _ context: TopicContext, _ variant: EventVariant) {
        writeItem(update.itemPos, context)
        json.member("snapshot", update.isSnapshot)
        if context.policy == .conflateByKey {
            json.member("key", update.key)
            json.member("command", update.commandForReader)
        }
        json.key("fields" as StaticString)
        writeFields(update.values, context, only: update.changed)
        if !update.patches.isEmpty { writePatches(update.patches, context) }
        if variant.sendsAllFields {
            json.key("values" as StaticString)
            writeFields(update.values, context, only: nil)
        }
        if !invalid.isEmpty { writeInvalid(context) }
    }

    mutating func writeItem(_ position: Int, _ context: TopicContext) {
        json.member("item", context.itemName(at: position))
        json.member("itemPos", position)
    }

    mutating func writeFields(_ values: [String?], _ context: TopicContext, only changed: FieldSet?) {
        json.beginObject()
        for (index, value) in values.enumerated() where changed?.contains(index + 1) ?? true {
            context.writeKey(ofField: index + 1, to: &json)
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

    /// Writes the keys of the fields whose values are not of their types, of which there is one at least.
    mutating func writeInvalid(_ context: TopicContext) {
        json.key("invalid" as StaticString)
        json.beginArray()
        for position in invalid { json.string(context.naming?.label(position)) }
        json.endArray()
        invalid.removeAll(keepingCapacity: true)
    }

    private mutating func writePatches(_ patches: [Int: String], _ context: TopicContext) {
        json.key("patches" as StaticString)
        json.beginObject()
        for (position, patch) in patches.sorted(by: { $0.key < $1.key }) {
            context.writeKey(ofField: position, to: &json)
            // JSON may have line ends between tokens; an event has to be one line.
            json.raw(patch.utf8.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
        }
        json.endObject()
    }
}

/// The members of a subscription's events.
extension EventEncoder {
    mutating func writeMembers(of event: SubscriptionEvent, _ context: TopicContext, _ variant: EventVariant) {
        switch event {
        case .subscribed(let itemCount, let fieldCount, let keyPosition, let commandPosition):
            json.member("itemCount", itemCount)
            json.member("fieldCount", fieldCount)
            json.member("keyPosition", keyPosition)
            json.member("commandPosition", commandPosition)
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
            json.member("value", frequency)
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
        json.key("fields" as StaticString)
        writeFields(newest.values, context, only: update.changed)
        json.member("conflated", update.count)
        if variant.sendsAllFields {
            json.key("values" as StaticString)
            writeFields(newest.values, context, only: nil)
        }
        if !invalid.isEmpty { writeInvalid(context) }
    }
}

/// The members of a client's events.
extension EventEncoder {
    mutating func writeMembers(of event: ClientTopicEvent) {
        switch event {
        case .status(let status, let failure):
            json.member("status", status.rawValue)
            if let failure { json.lastFailure(failure) }
        case .serverError(let code, let message):
            json.member("code", code)
            json.member("message", message)
        case .property(let name, let value):
            json.member("property", name)
            if let value {
                json.key("value" as StaticString)
                json.value(value)
            }
        case .message(let id, let outcome):
            json.member("message", id)
            json.writeMembers(of: outcome)
        case .legacy(let event): write(event)
        case .sessionStarted(let polling): json.member("polling", polling)
        case .bytesReceived(let count): json.member("bytes", count)
        case .activityWarning(let isSilent): json.member("warning", isSilent)
        }
    }

    private mutating func write(_ event: LegacyEvent) {
        switch event {
        case .connectionEstablished, .closed: break
        case .ended(let cause): json.member("cause", cause)
        case .connectionFailed(let reason), .badData(let reason): json.member("reason", reason)
        case .serverFailed(let code, let message, let isRetried):
            json.member("code", code)
            json.member("message", message)
            json.member("willRetry", isRetried)
        case .deviceRegistered(let info):
            writeOutcome(nil, nil)
            json.member("deviceId", info.deviceID)
            json.member("adapter", info.adapterName)
        case .deviceRefused(let code, let message): writeOutcome(code, message)
        case .badgeReset(_, let code, let message): writeOutcome(code, message)
        }
    }

    private mutating func writeOutcome(_ code: Int?, _ message: String?) {
        json.member("succeeded", code == nil)
        if let code {
            json.member("code", code)
            json.member("message", message)
        }
    }
}

/// The events of the gateway.
extension EventEncoder {
    mutating func encode(_ event: ControlEvent, as format: EventFormat) {
        json.reset()
        switch event {
        // A comment. In NDJSON an empty line would be shorter, but many readers parse every line.
        case .heartbeat:
            append(format == .serverSentEvents ? ":\n\n" : "{\"event\":\"heartbeat\",\"data\":{}}\n")
        case .stream(let id, let sources, let resume, let isDegraded, let retry):
            if let retry, format == .serverSentEvents { writeRetry(retry) }
            begin("stream", nil, format)
            json.beginObject()
            json.member("stream", id)
            json.key("sources" as StaticString)
            json.beginArray()
            for source in sources { json.write(source, isWhole: true) }
            json.endArray()
            json.member("resume", resume.rawValue)
            if isDegraded { json.member("degraded", true) }
            json.endObject()
            end(format)
        case .closing(let reason, let retry):
            if format == .serverSentEvents { writeRetry(retry) }
            begin("closing", nil, format)
            json.beginObject()
            json.member("reason", reason)
            json.endObject()
            end(format)
        }
    }

    /// Writes the `retry` field of Server-Sent Events: the time to wait before a reconnect, in milliseconds.
    private mutating func writeRetry(_ milliseconds: Int) {
        append("retry: ")
        json.bytes.append(decimal: milliseconds)
        append("\n")
    }
}

extension JSONBytes {
    /// Writes a source with its state.
    ///
    /// - Parameter isWhole: Whether why a client has no connection, and what `subscribed` and `real-max-frequency` reported to
    ///   earlier readers, belong to the state.
    mutating func write(_ source: SourceState, isWhole: Bool) {
        beginObject()
        switch source {
        case .client(let id, let status, let failure):
            member("client", id.rawValue)
            member("status", status.rawValue)
            if isWhole, let failure { lastFailure(failure) }
        case .subscription(let state):
            member("subscription", state.id.rawValue)
            member("mode", state.mode?.rawValue)
            member("client", state.client?.rawValue)
            member("status", state.status?.rawValue)
            if isWhole, let failure = state.failure { lastFailure(failure) }
            member("active", state.isActive)
            member("subscribed", state.isSubscribed)
            member("lastError", state.lastError)
            if isWhole, let shape = state.shape { write(shape) }
        }
        endObject()
    }

    private mutating func write(_ shape: SubscribedShape) {
        member("itemCount", shape.itemCount)
        member("fieldCount", shape.fieldCount)
        member("keyPosition", shape.keyPosition)
        member("commandPosition", shape.commandPosition)
        member("fieldKeys", shape.usesNames ? "name" : "position")
        member("realMaxFrequency", shape.realMaxFrequency)
    }
}
