internal import Primitives

/// `msg`: sends a message to the Metadata Adapter.
package struct MessageRequest: Sendable, Hashable {
    /// The identifier that the response echoes.
    package var requestID: RequestID
    /// The session; nil: the one of the query string, or the one last bound to the WebSocket.
    package var sessionID: SessionID?
    package var text: String
    /// The sequence within which messages are processed in order; nil: none.
    package var sequence: String?
    /// The number of the message, from 1; nil is allowed only without a sequence and without an outcome.
    package var progressive: Int?
    /// The longest time that the server waits for earlier messages of the sequence, in milliseconds; nil: chosen by the
    /// server. Without a sequence the server ignores the parameter.
    package var maxWaitMillis: Int?
    /// Whether the server sends `MSGDONE` or `MSGFAIL`.
    package var wantsOutcome = true
    /// Whether the server confirms with `REQOK` over a WebSocket.
    package var isAcknowledged = true

    /// A reserved name, which is no valid sequence.
    package static let reservedSequence = "UNORDERED_MESSAGES"

    package init(requestID: RequestID, text: String) {
        self.requestID = requestID
        self.text = text
    }

    func write(to line: inout ParameterWriter) {
        line.add(.session, sessionID?.rawValue)
        line.add(.requestID, requestID.rawValue)
        line.add(.message, text)
        line.add(.outcome, wantsOutcome, unless: true)
        line.add(.sequence, sequence)
        line.add(.progressive, progressive)
        line.add(.maxWait, maxWaitMillis)
        line.add(.ack, isAcknowledged, unless: true)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        var parameters = parameters
        requestID = try parameters.takeRequestID()
        sessionID = parameters.sessionID
        parameters.operationKnown()
        text = try parameters.required(.message)
        sequence = try parameters.value(.sequence) { Self.isSequence($0) ? $0 : nil }
        progressive = try parameters.count(.progressive, from: 1)
        if sequence != nil { maxWaitMillis = try parameters.count(.maxWait) }
        wantsOutcome = try parameters.flag(.outcome, default: true)
        isAcknowledged = try parameters.flag(.ack, default: true)
        if progressive == nil, sequence != nil || wantsOutcome { throw parameters.missing(.progressive) }
    }

    /// Whether a name is a valid sequence: ASCII letters, digits and `_`, and not the reserved name.
    package static func isSequence(_ name: String) -> Bool {
        !name.isEmpty && name != reservedSequence
            && name.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") }
    }
}
