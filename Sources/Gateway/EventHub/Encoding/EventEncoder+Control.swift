internal import Changes
internal import JSONText
internal import SessionCore

/// The events of the gateway.
extension EventEncoder {
    /// Encodes an event of the gateway, or a heartbeat.
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
            key("lastError" as StaticString)
            write(state.lastError)
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
        key("realMaxFrequency" as StaticString)
        write(shape.realMaxFrequency)
    }
}
