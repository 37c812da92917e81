internal import Changes
internal import JSONText
internal import SessionCore

/// One byte for each case of a `ClientTopicEvent`; numbers are never reused.
private enum ClientEventTag {
    static let status: UInt8 = 1
    static let serverError: UInt8 = 2
    static let property: UInt8 = 3
    static let message: UInt8 = 4
    static let legacy: UInt8 = 5
    static let sessionStarted: UInt8 = 6
    static let bytesReceived: UInt8 = 7
    static let activityWarning: UInt8 = 8
    static let failedStatus: UInt8 = 9
}

/// One byte for each case of a `MessageOutcome`; numbers are never reused.
private enum OutcomeTag {
    static let processed: UInt8 = 1
    static let denied: UInt8 = 2
    static let discarded: UInt8 = 3
    static let failed: UInt8 = 4
    static let aborted: UInt8 = 5
}

/// One byte for each case of a `LegacyEvent`; numbers are never reused.
private enum LegacyTag {
    static let connectionEstablished: UInt8 = 1
    static let closed: UInt8 = 5
    static let ended: UInt8 = 6
    static let connectionFailed: UInt8 = 7
    static let badData: UInt8 = 9
    static let badgeReset: UInt8 = 11
    // 8 and 10 had no place for what follows a failure, and for the adapter of a device.
    static let serverFailed: UInt8 = 12
    static let deviceRegistered: UInt8 = 13
    static let deviceRefused: UInt8 = 14
}

extension ByteWriter {
    mutating func clientEvent(_ event: ClientTopicEvent) {
        switch event {
        case .status(let status, nil):
            byte(ClientEventTag.status)
            string(status.rawValue)
        case .status(let status, let failure?):
            byte(ClientEventTag.failedStatus)
            string(status.rawValue)
            lastFailure(failure)
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
        case .sessionStarted(let polling):
            byte(ClientEventTag.sessionStarted)
            bool(polling)
        case .bytesReceived(let count):
            byte(ClientEventTag.bytesReceived)
            signed(count)
        case .activityWarning(let isSilent):
            byte(ClientEventTag.activityWarning)
            bool(isSilent)
        }
    }

    private mutating func lastFailure(_ failure: LastFailure) {
        string(failure.reason)
        optional(failure.code) { $0.signed($1) }
        string(failure.detail)
        string(failure.since)
        signed(failure.attempts)
        optional(failure.nextAttempt) { $0.string($1) }
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

    private mutating func legacy(_ event: LegacyEvent) {
        switch event {
        case .connectionEstablished: byte(LegacyTag.connectionEstablished)
        case .closed: byte(LegacyTag.closed)
        case .ended(let cause):
            byte(LegacyTag.ended)
            signed(cause)
        case .connectionFailed(let reason):
            byte(LegacyTag.connectionFailed)
            string(reason)
        case .serverFailed(let code, let message, let isRetried):
            byte(LegacyTag.serverFailed)
            signed(code)
            string(message)
            bool(isRetried)
        case .badData(let reason):
            byte(LegacyTag.badData)
            string(reason)
        case .deviceRegistered(let info):
            byte(LegacyTag.deviceRegistered)
            string(info.deviceID)
            string(info.adapterName)
        case .deviceRefused(let code, let message):
            byte(LegacyTag.deviceRefused)
            signed(code)
            string(message)
        case .badgeReset(let deviceID, let code, let message):
            byte(LegacyTag.badgeReset)
            optional(deviceID) { $0.string($1) }
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

    mutating func clientEvent() throws(CodingError) -> ClientTopicEvent {
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
        case ClientEventTag.sessionStarted: return .sessionStarted(polling: try bool())
        case ClientEventTag.bytesReceived: return .bytesReceived(try signed())
        case ClientEventTag.activityWarning: return .activityWarning(try bool())
        case ClientEventTag.failedStatus: return .status(try status(), failure: try lastFailure())
        default: throw .malformed
        }
    }

    private mutating func lastFailure() throws(CodingError) -> LastFailure {
        LastFailure(
            reason: try string(),
            code: try optionalSigned(),
            detail: try string(),
            since: try string(),
            attempts: try signed(),
            nextAttempt: try optionalString()
        )
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

    private mutating func legacy() throws(CodingError) -> LegacyEvent {
        switch try byte() {
        case LegacyTag.connectionEstablished: .connectionEstablished
        case LegacyTag.closed: .closed
        case LegacyTag.ended: .ended(cause: try signed())
        case LegacyTag.connectionFailed: .connectionFailed(reason: try string())
        case LegacyTag.serverFailed:
            .serverFailed(code: try signed(), message: try string(), isRetried: try bool())
        case LegacyTag.badData: .badData(reason: try string())
        case LegacyTag.deviceRegistered:
            .deviceRegistered(DeviceTokenInfo(deviceID: try string(), adapterName: try string()))
        case LegacyTag.deviceRefused: .deviceRefused(code: try signed(), message: try string())
        case LegacyTag.badgeReset:
            .badgeReset(deviceId: try optionalString(), code: try optionalSigned(), message: try optionalString())
        default: throw .malformed
        }
    }
}
