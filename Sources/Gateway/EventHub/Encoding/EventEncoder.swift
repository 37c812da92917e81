package import Changes
internal import JSONText
internal import SessionCore

/// Encodes events. An encoder reuses its memory for all of them.
struct EventEncoder {
    /// The event that was encoded last, with the framing of the format and without that of HTTP.
    var json = JSONBytes(capacity: 1024)
    /// The epoch of the ids.
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
        begin(event.name, sequence, variant.format)
        json.beginObject()
        json.raw(context.commonMembers)
        switch event {
        case .client(let event): writeMembers(of: event)
        case .subscription(let event): writeMembers(of: event, context, variant)
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
        begin("update", sequence, variant.format)
        json.beginObject()
        json.raw(context.commonMembers)
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
        begin("lost-updates", sequence, variant.format)
        json.beginObject()
        json.raw(context.commonMembers)
        writeLoss(of: count, item: item, by: "gateway", context)
        json.endObject()
        end(variant.format)
    }

    // MARK: - Events of the gateway

    /// Encodes an event of the gateway, or a heartbeat.
    mutating func encode(_ event: ControlEvent, as format: EventFormat) {
        json.reset()
        switch event {
        case .heartbeat:
            EventFraming(format).writeHeartbeat(in: &json)
        case .stream(let id, let sources, let resume, let isDegraded, let retry):
            if let retry, format == .serverSentEvents { EventFraming.writeRetry(retry, in: &json) }
            begin("stream", nil, format)
            json.beginObject()
            json.member("stream", id)
            json.key("sources" as StaticString)
            json.beginArray()
            for source in sources { write(source) }
            json.endArray()
            json.member("resume", resume.rawValue)
            if isDegraded { json.member("degraded", true) }
            json.endObject()
            end(format)
        case .closing(let reason, let retry):
            if format == .serverSentEvents { EventFraming.writeRetry(retry, in: &json) }
            begin("closing", nil, format)
            json.beginObject()
            json.member("reason", reason)
            json.endObject()
            end(format)
        }
    }

    private mutating func write(_ source: SourceState) {
        json.beginObject()
        switch source {
        case .client(let id, let status):
            json.member("client", id.rawValue)
            json.member("status", status.rawValue)
        case .subscription(let state):
            json.member("subscription", state.id.rawValue)
            json.member("client", state.client?.rawValue)
            json.member("status", state.status?.rawValue)
            json.member("active", state.isActive)
            json.member("subscribed", state.isSubscribed)
            json.key("lastError" as StaticString)
            write(state.lastError)
            if let shape = state.shape { write(shape) }
        }
        json.endObject()
    }

    /// Writes what `subscribed` and `real-max-frequency` reported to earlier readers.
    private mutating func write(_ shape: SubscribedShape) {
        json.member("itemCount", shape.itemCount)
        json.member("fieldCount", shape.fieldCount)
        write("keyPosition", shape.keyPosition)
        write("commandPosition", shape.commandPosition)
        json.member("fieldKeys", shape.usesNames ? "name" : "position")
        json.key("realMaxFrequency" as StaticString)
        json.write(shape.realMaxFrequency)
    }

    private mutating func write(_ refusal: UpstreamRefusal?) {
        guard let refusal else { return json.null() }
        json.beginObject()
        json.member("code", refusal.code)
        json.member("message", refusal.message)
        json.endObject()
    }

    // MARK: - Framing

    private mutating func begin(_ name: StaticString, _ sequence: UInt64?, _ format: EventFormat) {
        EventFraming(format).begin(name, epoch: epoch, sequence: sequence, in: &json)
        json.beginText()
    }

    private mutating func end(_ format: EventFormat) {
        EventFraming(format).end(in: &json)
    }
}

/// The present state of a source, as the `stream` event reports it.
enum SourceState: Sendable, Equatable {
    /// A client's status.
    case client(id: ClientID, status: ClientStatus)
    /// A subscription's state, and the status of the client that carries it.
    case subscription(SubscriptionSourceState)
}

/// The present state of a subscription that is a source.
struct SubscriptionSourceState: Sendable, Equatable {
    /// The subscription.
    let id: SubscriptionID
    /// The client that carries it; nil: none.
    let client: ClientID?
    /// The status of that client; nil without one.
    let status: ClientStatus?
    /// Whether the subscription is active.
    let isActive: Bool
    /// Why the server last refused or removed it; nil since it was activated or confirmed.
    let lastError: UpstreamRefusal?
    /// What the server's confirmation said; nil while the subscription is not subscribed.
    var shape: SubscribedShape?

    /// Whether the server has confirmed it.
    var isSubscribed: Bool { shape != nil }
}

/// What the server told about a subscription when it confirmed it, and since.
struct SubscribedShape: Sendable, Equatable {
    /// The number of items.
    let itemCount: Int
    /// The number of fields of the first level.
    let fieldCount: Int
    /// COMMAND only: the 1-based position of the key field.
    let keyPosition: Int?
    /// COMMAND only: the 1-based position of the command field.
    let commandPosition: Int?
    /// Whether the keys of fields in events are names; else positions.
    let usesNames: Bool
    /// The frequency limit in force; nil if it is not known.
    let realMaxFrequency: RealMaxFrequency?
}

extension SubscribedShape {
    /// The shape of a subscription with these values; nil while it is not subscribed.
    init?(of table: ValueTable, _ context: TopicContext) {
        guard table.isSubscribed, let itemCount = table.itemCount, let fieldCount = table.fieldCount else { return nil }
        self.init(
            itemCount: itemCount,
            fieldCount: fieldCount,
            keyPosition: table.keyPosition,
            commandPosition: table.commandPosition,
            usesNames: context.naming?.usesNames ?? true,
            realMaxFrequency: table.realMaxFrequency
        )
    }
}

/// An event of the gateway itself. It has no id.
enum ControlEvent: Sendable, Equatable {
    /// The id and the sources of the stream; the first one also has the time to wait before a reconnect. `isDegraded`:
    /// the process is cut off from its cluster.
    case stream(
        id: String,
        sources: [SourceState],
        resume: ResumeOutcome,
        isDegraded: Bool = false,
        retryMilliseconds: Int?
    )
    /// The stream ends for this reason.
    case closing(reason: String, retryMilliseconds: Int)
    /// A keep-alive for idle connections.
    case heartbeat
}

/// A `closing` event as the whole content of a stream that cannot be opened.
package enum ClosingEvent {
    /// The bytes of the event.
    ///
    /// - Parameters:
    ///   - reason: Why the stream is closed.
    ///   - retryMilliseconds: The time that the client waits before it reconnects.
    package static func bytes(reason: String, retryMilliseconds: Int, as format: EventFormat) -> [UInt8] {
        var encoder = EventEncoder(epoch: "")
        encoder.encode(.closing(reason: reason, retryMilliseconds: retryMilliseconds), as: format)
        return encoder.json.bytes
    }
}
