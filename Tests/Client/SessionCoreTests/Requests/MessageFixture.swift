internal import TLCP
internal import Testing

@testable internal import SessionCore

/// A message ledger with lines of the server as input and requests as output, both as text.
struct MessageFixture: ~Copyable {
    var ledger = MessageLedger()
    private var ids = RequestIDGenerator()
    private var lastToken: UInt64 = 0

    /// A message whose token is the number of the call.
    mutating func message(
        _ text: String = "m",
        _ sequence: String? = nil,
        timeout: Double? = nil,
        hasDelegate: Bool = true,
        from sender: String? = nil
    ) {
        lastToken += 1
        ledger.accept(
            PendingMessage(
                MessageToken(lastToken),
                text: text,
                sequence: sequence,
                delayTimeout: timeout,
                hasDelegate: hasDelegate,
                from: sender
            )
        )
    }

    /// Whether the session may have a message of a sequence from a sender.
    mutating func admits(_ sequence: String?, from sender: String? = nil) -> Bool {
        ledger.admits(
            PendingMessage(
                MessageToken(0),
                text: "m",
                sequence: sequence,
                delayTimeout: nil,
                hasDelegate: true,
                from: sender
            )
        )
    }

    /// The requests that are due, as they go over a WebSocket.
    mutating func send() -> [String] { take(acknowledged: false) }

    /// The requests that are due, as they go over HTTP.
    mutating func post() -> [String] { take(acknowledged: true) }

    private mutating func take(acknowledged: Bool) -> [String] {
        ledger.takePendingRequests(acknowledged: acknowledged, ids: &ids).map {
            String(decoding: $0.encoded, as: UTF8.self)
        }
    }

    /// As many requests as the count says.
    mutating func post(atMost count: Int) -> [String] {
        var room = count
        return ledger.takePendingRequests(acknowledged: true, ids: &ids) { _ in
            room -= 1
            return room >= 0
        }.map { String(decoding: $0.encoded, as: UTF8.self) }
    }

    /// Feeds a line; returns the outcomes.
    mutating func receive(_ line: String) throws -> [String] {
        let notification = try #require(try ServerNotification(parsing: Array(line.utf8)[...]))
        return ledger.received(notification).map(\.brief)
    }

    /// Feeds one notification; returns the outcomes.
    mutating func receive(_ notification: ServerNotification) -> [String] {
        ledger.received(notification).map(\.brief)
    }

    /// `REQOK`; nil if no message waits for it.
    mutating func accept(_ id: Int) -> [String]? {
        ledger.requestAnswered(RequestID(id), .accepted)?.map(\.brief)
    }

    /// `REQERR`; nil if no message waits for it.
    mutating func refuse(_ id: Int, _ code: Int, _ message: String = "no") -> [String]? {
        ledger.requestAnswered(RequestID(id), .refused(code: code, message: message))?.map(\.brief)
    }

    /// The end of the session; returns the outcomes.
    mutating func end() -> [String] { ledger.sessionEnded().map(\.brief) }

    /// The messages without a delegate that were finished since the last call.
    mutating func released() -> [UInt64] { ledger.takeReleased().map(\.rawValue) }

    /// How many messages are not finished.
    mutating func unfinished() -> Int { ledger.messages.count }
}

extension SessionEvent {
    var brief: String {
        switch self {
        case .message(let token, .processed(let response)): "\(token.rawValue) processed '\(response)'"
        case .message(let token, .denied(let code, let message)): "\(token.rawValue) denied \(code) \(message)"
        case .message(let token, .discarded): "\(token.rawValue) discarded"
        case .message(let token, .failed): "\(token.rawValue) failed"
        case .messageReleased(let token): "\(token.rawValue) released"
        case .message(let token, .aborted(let wasSent)): "\(token.rawValue) aborted\(wasSent ? " sent" : "")"
        default: "\(self)"
        }
    }
}
