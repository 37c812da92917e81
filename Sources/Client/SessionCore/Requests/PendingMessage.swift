internal import TLCP

/// The identity of a message in outcome lines.
struct MessageNumber: Sendable, Hashable {
    /// The sequence; nil: none.
    var sequence: String?
    /// The number within the sequence, from 1.
    var progressive: Int
}

/// One message of the user that is not finished.
package struct PendingMessage: Sendable {
    private enum Stage: Sendable, Equatable {
        /// To be written. *Entered* at the start and when the channel is lost; *leaves to* `sent`.
        case due
        /// Written under this identifier, not answered. *Leaves to* `acknowledged`, `due`.
        case sent(RequestID)
        /// The server has the message; the outcome is awaited. *Entered* by `REQOK`.
        case acknowledged
        /// The server has a former copy, whose outcome may come. *Entered* by `REQERR` with the code of a duplicate.
        case duplicate
    }

    package let token: MessageToken
    /// The text; released once the server has it.
    package private(set) var text: String
    let sequence: String?
    /// The number within the sequence; nil before the message is written, and without sequence and delegate.
    var progressive: Int?
    let delayTimeout: Double?
    let hasDelegate: Bool
    /// The user that sends the message, where the client has several users; nil: the client has one user.
    let sender: String?
    /// The number of copies that were written; the server may have any of them.
    private(set) var copies = 0
    private var stage = Stage.due

    /// A message that was not sent. `sequence` nil or `UNORDERED_MESSAGES`: no sequence; the caller has checked other names.
    /// `delayTimeout` in seconds; nil or negative: the server's default.
    package init(
        _ token: MessageToken,
        text: String,
        sequence: String?,
        delayTimeout: Double?,
        hasDelegate: Bool,
        from sender: String? = nil
    ) {
        self.token = token
        self.text = text
        self.sequence = sequence == MessageRequest.reservedSequence ? nil : sequence
        self.delayTimeout = delayTimeout
        self.hasDelegate = hasDelegate
        self.sender = sender
    }

    /// The identity in outcome lines; nil for a message without a number.
    var number: MessageNumber? { progressive.map { MessageNumber(sequence: sequence, progressive: $0) } }

    /// The copy that waits for its answer.
    var request: RequestID? {
        switch stage {
        case .sent(let request): request
        case .due, .acknowledged, .duplicate: nil
        }
    }

    /// Whether a copy was written, so that the server may have it.
    var wasWritten: Bool { copies > 0 }

    /// Whether neither an outcome nor an order is requested.
    var isFireAndForget: Bool { sequence == nil && !hasDelegate }

    mutating func written(as request: RequestID) {
        copies += 1
        stage = .sent(request)
    }

    /// Whether the user receives no event at the end of the session.
    var endsSilently: Bool { stage == .duplicate }

    /// The server has the message, or a former copy of it.
    mutating func acknowledged(isDuplicate: Bool) {
        stage = isDuplicate ? .duplicate : .acknowledged
        text = ""
    }

    /// The channel is lost. Returns whether the message has to be written again.
    mutating func channelLost() -> Bool {
        guard request != nil else { return false }
        stage = .due
        return true
    }

    // MARK: - Requests

    func request(_ id: RequestID, acknowledged: Bool) -> MessageRequest {
        var request = MessageRequest(requestID: id, text: text)
        request.wantsOutcome = hasDelegate
        request.sequence = sequence
        request.progressive = progressive
        if sequence != nil { request.maxWaitMillis = delayMillis }
        request.isAcknowledged = acknowledged || !isFireAndForget
        return request
    }

    /// The timeout in whole milliseconds; nil: the server's default.
    private var delayMillis: Int? {
        guard let delayTimeout, delayTimeout >= 0 else { return nil }
        let millis = delayTimeout * 1000 + 0.5
        return millis < 1e15 ? Int(millis) : .max
    }
}
