internal import JSONText
internal import SessionCore

/// The members of a client's events.
extension EventEncoder {
    mutating func writeMembers(of event: HubEvent, _ context: TopicContext, _ variant: EventVariant) {
        switch event {
        case .status(let status):
            json.member("status", status.rawValue)
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
            write(outcome)
        case .legacy(let event):
            write(event)
        case .subscription(let event):
            writeMembers(of: event, context, variant)
        }
    }

    private mutating func write(_ outcome: MessageOutcome) {
        switch outcome {
        case .processed(let response):
            json.member("outcome", "processed")
            json.member("response", response)
        case .denied(let code, let message):
            json.member("outcome", "denied")
            json.member("code", code)
            json.member("error", message)
        case .discarded:
            json.member("outcome", "discarded")
        case .failed:
            json.member("outcome", "failed")
        case .aborted(let sentOnNetwork):
            json.member("outcome", "aborted")
            json.member("sentOnNetwork", sentOnNetwork)
        }
    }

    private mutating func write(_ event: LegacyStreamEvent) {
        switch event {
        case .connectionEstablished, .connectionClosed: break
        case .sessionStarted(let polling): json.member("polling", polling)
        case .bytesReceived(let count): json.member("bytes", count)
        case .activityWarning(let isSilent): json.member("warning", isSilent)
        case .connectionEnded(let cause): json.member("cause", cause)
        case .connectionFailure(let reason), .dataError(let reason): json.member("reason", reason)
        case .serverFailure(let code, let message):
            json.member("code", code)
            json.member("message", message)
        case .deviceTokenChange(let deviceID, let code, let message):
            writeOutcome(code, message)
            if let deviceID { json.member("deviceId", deviceID) }
        case .badgeReset(let code, let message):
            writeOutcome(code, message)
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
