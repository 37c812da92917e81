internal import Changes
internal import JSONText
internal import SessionCore

/// The events of the gateway.
extension EventEncoder {
    /// Encodes an event of the gateway, or a heartbeat.
    mutating func encode(_ event: ControlEvent, as format: EventFormat) {
        json.reset()
        switch event {
        case .heartbeat:
            writeHeartbeat(format)
        case .stream(let id, let sources, let resume, let isDegraded, let retry):
            if let retry, format == .serverSentEvents { writeRetry(retry) }
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
            if format == .serverSentEvents { writeRetry(retry) }
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
        case .client(let id, let status, let failure):
            json.member("client", id.rawValue)
            json.member("status", status.rawValue)
            if let failure { json.lastFailure(failure) }
        case .subscription(let state):
            json.member("subscription", state.id.rawValue)
            json.member("mode", state.mode.rawValue)
            json.member("client", state.client?.rawValue)
            json.member("status", state.status?.rawValue)
            if let failure = state.failure { json.lastFailure(failure) }
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

    private mutating func writeHeartbeat(_ format: EventFormat) {
        switch format {
        // A comment.
        case .serverSentEvents: append(":\n\n")
        // An empty line would be shorter, but many readers parse every line.
        case .ndjson: append("{\"event\":\"heartbeat\",\"data\":{}}\n")
        }
    }

    /// Writes the `retry` field of Server-Sent Events: the time to wait before a reconnect, in milliseconds.
    private mutating func writeRetry(_ milliseconds: Int) {
        append("retry: ")
        json.bytes.append(decimal: milliseconds)
        append("\n")
    }
}
