internal import Changes
internal import JSONText
internal import SessionCore

extension Wire<ClientTopicEvent> {
    static let clientEvent = Wire(cases: [
        Case(1, .raw(.string), make: { .status($0) }) { if case .status(let status, nil) = $0 { status } else { nil } },
        Case(9, .raw(.string), .lastFailure, make: { .status($0, failure: $1) }) {
            if case .status(let status, let failure?) = $0 { (status, failure) } else { nil }
        },
        Case(2, .signed, .string, make: Value.serverError) {
            if case .serverError(let code, let message) = $0 { (code, message) } else { nil }
        },
        Case(3, .string, .optional(.json), make: Value.property) {
            if case .property(let name, let value) = $0 { (name, value) } else { nil }
        },
        Case(4, .string, .outcome, make: Value.message) {
            if case .message(let id, let outcome) = $0 { (id, outcome) } else { nil }
        },
        Case(5, .legacy, make: Value.legacy) { if case .legacy(let event) = $0 { event } else { nil } },
        Case(6, .bool, make: Value.sessionStarted) {
            if case .sessionStarted(let polling) = $0 { polling } else { nil }
        },
        Case(7, .signed, make: Value.bytesReceived) { if case .bytesReceived(let count) = $0 { count } else { nil } },
        Case(8, .bool, make: Value.activityWarning) {
            if case .activityWarning(let isSilent) = $0 { isSilent } else { nil }
        },
    ])
}

extension Wire<JSONValue> {
    fileprivate static let json = Wire<[UInt8]>.blob.map { (value: JSONValue) in
        var json = JSONBytes()
        json.value(value)
        return json.bytes
    } from: { bytes throws(CodingError) in
        do {
            return try JSONValue(parsing: bytes)
        } catch {
            throw .malformed
        }
    }
}

extension Wire<LastFailure> {
    fileprivate static let lastFailure = Wire(
        LastFailure.init,
        (\.reason, .string),
        (\.code, .optional(.signed)),
        (\.detail, .string),
        (\.since, .string),
        (\.attempts, .signed),
        (\.nextAttempt, .optional(.string))
    )
}

extension Wire<MessageOutcome> {
    fileprivate static let outcome = Wire(cases: [
        Case(1, .string, make: Value.processed) { if case .processed(let response) = $0 { response } else { nil } },
        Case(2, .signed, .string, make: Value.denied) {
            if case .denied(let code, let message) = $0 { (code, message) } else { nil }
        },
        Case(3, .discarded),
        Case(4, .failed),
        Case(5, .bool, make: Value.aborted) { if case .aborted(let sent) = $0 { sent } else { nil } },
    ])
}

extension Wire<LegacyEvent> {
    // 8 and 10 had no place for what follows a failure, and for the adapter of a device.
    fileprivate static let legacy = Wire(cases: [
        Case(1, .connectionEstablished),
        Case(5, .closed),
        Case(6, .signed, make: Value.ended) { if case .ended(let cause) = $0 { cause } else { nil } },
        Case(7, .string, make: Value.connectionFailed) {
            if case .connectionFailed(let reason) = $0 { reason } else { nil }
        },
        Case(12, .signed, .string, .bool, make: Value.serverFailed) {
            if case .serverFailed(let code, let message, let isRetried) = $0 { (code, message, isRetried) } else { nil }
        },
        Case(9, .string, make: Value.badData) { if case .badData(let reason) = $0 { reason } else { nil } },
        Case(13, .string, .string, make: { .deviceRegistered(DeviceTokenInfo(deviceID: $0, adapterName: $1)) }) {
            if case .deviceRegistered(let info) = $0 { (info.deviceID, info.adapterName) } else { nil }
        },
        Case(14, .signed, .string, make: Value.deviceRefused) {
            if case .deviceRefused(let code, let message) = $0 { (code, message) } else { nil }
        },
        Case(
            11,
            .optional(.string),
            .optional(.signed),
            .optional(.string),
            make: Value.badgeReset
        ) { if case .badgeReset(let device, let code, let message) = $0 { (device, code, message) } else { nil } },
    ])
}
