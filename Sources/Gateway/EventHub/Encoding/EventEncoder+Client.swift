internal import Changes
internal import JSONText
internal import SessionCore

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
