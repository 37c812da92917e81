/// `msg`: a message to the Metadata Adapter.
package struct MessageRequest: Sendable, Hashable {
    /// The identifier that the response echoes.
    package var requestID: RequestID
    /// The session; nil: that of the query string, or the one last bound to this WebSocket.
    package var sessionID: SessionID?
    /// The message.
    package var text: String
    /// The sequence in which it is processed; nil: none.
    package var sequence: String?
    /// Its number, from 1; nil only without a sequence and without an outcome.
    package var progressive: Int?
    /// How long the server may wait for earlier messages of the sequence, in milliseconds; nil: the server decides.
    package var maxWaitMillis: Int?
    /// Whether `MSGDONE` or `MSGFAIL` is wanted.
    package var wantsOutcome = true
    /// Whether a WebSocket server confirms with `REQOK`.
    package var isAcknowledged = true

    /// The name that no sequence may have.
    package static let reservedSequence = "UNORDERED_MESSAGES"

    /// A request with nothing but what is required of every one.
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

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        var parameters = parameters
        requestID = try parameters.takeRequestID()
        sessionID = parameters.sessionID
        text = try parameters.required(.message)
        sequence = try parameters.value(.sequence) { Self.isSequence($0) ? $0 : nil }
        progressive = try parameters.count(.progressive, from: 1)
        maxWaitMillis = try parameters.count(.maxWait)
        wantsOutcome = try parameters.flag(.outcome, default: true)
        isAcknowledged = try parameters.flag(.ack, default: true)
        if progressive == nil, sequence != nil || wantsOutcome { throw parameters.missing(.progressive) }
    }

    /// Whether a sequence may have this name: ASCII letters, digits and `_`, and not the reserved one.
    package static func isSequence(_ name: String) -> Bool {
        !name.isEmpty && name != reservedSequence
            && name.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") }
    }
}
