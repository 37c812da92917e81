internal import EventHub
internal import JSONText
internal import SessionCore

/// One byte for each case of a `HubEvent` of a client; numbers are never reused.
private enum ClientEventTag {
    static let status: UInt8 = 1
    static let serverError: UInt8 = 2
    static let property: UInt8 = 3
    static let message: UInt8 = 4
    static let legacy: UInt8 = 5
}

/// One byte for each case of a `MessageOutcome`; numbers are never reused.
private enum OutcomeTag {
    static let processed: UInt8 = 1
    static let denied: UInt8 = 2
    static let discarded: UInt8 = 3
    static let failed: UInt8 = 4
    static let aborted: UInt8 = 5
}

/// One byte for each case of a `LegacyStreamEvent`; numbers are never reused.
private enum LegacyTag {
    static let connectionEstablished: UInt8 = 1
    static let sessionStarted: UInt8 = 2
    static let bytesReceived: UInt8 = 3
    static let activityWarning: UInt8 = 4
    static let connectionClosed: UInt8 = 5
    static let connectionEnded: UInt8 = 6
    static let connectionFailure: UInt8 = 7
    static let serverFailure: UInt8 = 8
    static let dataError: UInt8 = 9
    static let deviceTokenChange: UInt8 = 10
    static let badgeReset: UInt8 = 11
}

extension ByteWriter {
    mutating func clientEvent(_ event: HubEvent) {
        switch event {
        case .status(let status):
            byte(ClientEventTag.status)
            string(status.rawValue)
        case .serverError(let code, let message):
            byte(ClientEventTag.serverError)
            signed(code)
            string(message)
        case .property(let name, let value):
            byte(ClientEventTag.property)
            string(name)
            optional(value) { writer, value in
                var json = JSONBytes()
                json.value(value)
                writer.blob(json.bytes)
            }
        case .message(let id, let outcome):
            byte(ClientEventTag.message)
            string(id)
            self.outcome(outcome)
        case .legacy(let event):
            byte(ClientEventTag.legacy)
            legacy(event)
        case .subscription:
            preconditionFailure("a subscription's event was published to a client")
        }
    }

    private mutating func outcome(_ outcome: MessageOutcome) {
        switch outcome {
        case .processed(let response):
            byte(OutcomeTag.processed)
            string(response)
        case .denied(let code, let message):
            byte(OutcomeTag.denied)
            signed(code)
            string(message)
        case .discarded: byte(OutcomeTag.discarded)
        case .failed: byte(OutcomeTag.failed)
        case .aborted(let sentOnNetwork):
            byte(OutcomeTag.aborted)
            bool(sentOnNetwork)
        }
    }

    private mutating func legacy(_ event: LegacyStreamEvent) {
        switch event {
        case .connectionEstablished: byte(LegacyTag.connectionEstablished)
        case .sessionStarted(let polling):
            byte(LegacyTag.sessionStarted)
            bool(polling)
        case .bytesReceived(let count):
            byte(LegacyTag.bytesReceived)
            signed(count)
        case .activityWarning(let isSilent):
            byte(LegacyTag.activityWarning)
            bool(isSilent)
        case .connectionClosed: byte(LegacyTag.connectionClosed)
        case .connectionEnded(let cause):
            byte(LegacyTag.connectionEnded)
            signed(cause)
        case .connectionFailure(let reason):
            byte(LegacyTag.connectionFailure)
            string(reason)
        case .serverFailure(let code, let message):
            byte(LegacyTag.serverFailure)
            signed(code)
            string(message)
        case .dataError(let reason):
            byte(LegacyTag.dataError)
            string(reason)
        case .deviceTokenChange(let deviceID, let code, let message):
            byte(LegacyTag.deviceTokenChange)
            optional(deviceID) { $0.string($1) }
            optional(code) { $0.signed($1) }
            optional(message) { $0.string($1) }
        case .badgeReset(let code, let message):
            byte(LegacyTag.badgeReset)
            optional(code) { $0.signed($1) }
            optional(message) { $0.string($1) }
        }
    }
}

extension ByteReader {
    mutating func status() throws(CodingError) -> ClientStatus {
        guard let status = ClientStatus(rawValue: try string()) else { throw .malformed }
        return status
    }

    mutating func clientEvent() throws(CodingError) -> HubEvent {
        switch try byte() {
        case ClientEventTag.status: return .status(try status())
        case ClientEventTag.serverError: return .serverError(code: try signed(), message: try string())
        case ClientEventTag.property:
            let name = try string()
            guard let json = try optional({ reader throws(CodingError) in try reader.blob() }) else {
                return .property(name: name, value: nil)
            }
            do {
                return .property(name: name, value: try JSONValue(parsing: json))
            } catch {
                throw .malformed
            }
        case ClientEventTag.message: return .message(id: try string(), try outcome())
        case ClientEventTag.legacy: return .legacy(try legacy())
        default: throw .malformed
        }
    }

    private mutating func outcome() throws(CodingError) -> MessageOutcome {
        switch try byte() {
        case OutcomeTag.processed: .processed(response: try string())
        case OutcomeTag.denied: .denied(code: try signed(), message: try string())
        case OutcomeTag.discarded: .discarded
        case OutcomeTag.failed: .failed
        case OutcomeTag.aborted: .aborted(sentOnNetwork: try bool())
        default: throw .malformed
        }
    }

    private mutating func legacy() throws(CodingError) -> LegacyStreamEvent {
        switch try byte() {
        case LegacyTag.connectionEstablished: .connectionEstablished
        case LegacyTag.sessionStarted: .sessionStarted(polling: try bool())
        case LegacyTag.bytesReceived: .bytesReceived(try signed())
        case LegacyTag.activityWarning: .activityWarning(try bool())
        case LegacyTag.connectionClosed: .connectionClosed
        case LegacyTag.connectionEnded: .connectionEnded(cause: try signed())
        case LegacyTag.connectionFailure: .connectionFailure(reason: try string())
        case LegacyTag.serverFailure: .serverFailure(code: try signed(), message: try string())
        case LegacyTag.dataError: .dataError(reason: try string())
        case LegacyTag.deviceTokenChange:
            .deviceTokenChange(
                deviceID: try optionalString(),
                code: try optionalSigned(),
                message: try optionalString()
            )
        case LegacyTag.badgeReset: .badgeReset(code: try optionalSigned(), message: try optionalString())
        default: throw .malformed
        }
    }
}
