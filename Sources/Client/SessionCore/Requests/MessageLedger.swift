package import TLCP

/// The unfinished messages of one client: pending ones, and those waiting for an outcome.
///
/// ```text
/// sequence  delegate  number  finished by
/// named     yes       yes     outcome line
/// none      yes       yes     outcome line
/// named     no        yes     REQOK, REQERR
/// none      no        no      being written where no acknowledgement is asked for, else REQOK, REQERR
/// ```
///
/// The session machine decides whether a message is accepted in the present status; it must not call `accept` for a
/// rejected message. The first copies of messages are written in the order of the calls, and get the numbers: the server
/// waits for each number of a sequence, so a message that is never written must not use up a number.
package struct MessageLedger: ~Copyable {
    /// Messages by the order of their calls.
    private(set) var messages: [Int: PendingMessage] = [:]
    private var due = DueQueue<Int>()
    private var inFlight: [RequestID: Int] = [:]
    /// Written messages by their numbers.
    private var numbered: [MessageNumber: Int] = [:]
    /// The last number written in each sequence of the session, 0 before the first one: the server expects the next one,
    /// however late it comes.
    private var lastNumbers: [String?: Int] = [:]
    /// The number of sequences of the session that each sender has begun.
    private var begun: [String: Int] = [:]
    private var lastCall = 0
    /// The messages without a delegate that were finished since `takeReleased`.
    private var released: [MessageToken] = []

    /// The most sequences of a session, which keeps the last number of each.
    package static let maxSequences = 100_000
    /// The most sequences that one of several senders may begin.
    package static let maxSequencesOfSender = maxSequences / 2

    package init() {}

    /// Whether requests are pending for `takePendingRequests`.
    package var hasPendingRequests: Bool { !due.isEmpty }

    /// Whether a text can name a sequence: ASCII letters, digits and underscores, at least one. The reserved name
    /// stands for no sequence.
    package static func isSequenceName(_ name: String) -> Bool {
        name == MessageRequest.reservedSequence || MessageRequest.isSequence(name)
    }

    /// The messages without a delegate that were finished since the last call.
    mutating func takeReleased() -> [MessageToken] {
        if released.isEmpty { return [] }
        defer { released = [] }
        return released
    }

    // MARK: - Commands

    /// Whether the session may have a message: it has no sequence, or the session knows the sequence, or there is a place for a
    /// further sequence of the sender.
    package func admits(_ message: PendingMessage) -> Bool {
        guard let sequence = message.sequence, lastNumbers[sequence] == nil else { return true }
        if let sender = message.sender, begun[sender, default: 0] >= Self.maxSequencesOfSender { return false }
        return lastNumbers.count < Self.maxSequences
    }

    /// A message was accepted: it waits to be sent.
    package mutating func accept(_ message: PendingMessage) {
        lastCall &+= 1
        if let sequence = message.sequence, lastNumbers[sequence] == nil {
            lastNumbers[sequence] = 0
            if let sender = message.sender { begun[sender, default: 0] += 1 }
        }
        messages[lastCall] = message
        due.insert(lastCall)
    }

    // MARK: - Requests

    /// The `msg` requests to be (re)sent now, in the order of the calls, each with a fresh identifier; they count as
    /// written. `acknowledged` is false over a WebSocket, where messages without sequence and delegate are not
    /// confirmed. `fits` is called for each request; the first one that does not fit stays pending, with all that
    /// follow.
    package mutating func takePendingRequests(
        atMost count: Int = .max,
        acknowledged: Bool,
        ids: inout RequestIDGenerator,
        where fits: (ClientRequest) -> Bool = { _ in true }
    ) -> [ClientRequest] {
        var requests: [ClientRequest] = []
        while requests.count < count, let call = due.first() {
            guard var message = messages[call] else {
                due.remove(call)
                continue
            }
            message.progressive = progressive(of: message)
            let id = ids.next()
            let request = ClientRequest.message(message.request(id, acknowledged: acknowledged))
            guard fits(request) else { break }
            requests.append(request)
            if message.isFireAndForget && !acknowledged { finish(call) } else { written(call, message, as: id) }
        }
        return requests
    }

    /// The number with which a message is written: the number of former copies, or the next number of the sequence; nil: none.
    private func progressive(of message: PendingMessage) -> Int? {
        if message.wasWritten || message.isFireAndForget { return message.progressive }
        return lastNumbers[message.sequence, default: 0] &+ 1
    }

    /// A copy of a pending message was written.
    private mutating func written(_ call: Int, _ message: PendingMessage, as id: RequestID) {
        due.remove(call)
        inFlight[id] = call
        messages[call] = message
        messages[call]?.written(as: id)
        guard let number = message.number, !message.wasWritten else { return }
        numbered[number] = call
        lastNumbers[number.sequence] = number.progressive
    }

    // MARK: - Answers

    /// `REQOK` or `REQERR`. Nil: not a request of this ledger (or an outdated copy).
    package mutating func requestAnswered(_ id: RequestID, _ answer: RequestAnswer) -> [SessionEvent]? {
        guard let call = inFlight.removeValue(forKey: id), let message = messages[call] else { return nil }
        switch answer {
        // A refused repetition is the duplicate of a copy whose reply was lost: the outcome of that copy may come.
        case .accepted,
            .refused(32...33, _) where message.copies > 1:
            let isDuplicate = answer != .accepted
            if message.hasDelegate { messages[call]?.acknowledged(isDuplicate: isDuplicate) } else { finish(call) }
            return []
        case .refused(32...33, _):
            return release(call)
        case .refused(let code, let text):
            return finish(call, code <= 0 ? .denied(code: code, message: text) : .failed)
        }
    }

    /// The message that would be written next cannot be sent: it is refused.
    package mutating func refuseNext(code: Int, message text: String) -> [SessionEvent] {
        guard let call = due.first() else { return [] }
        return finish(call, .denied(code: code, message: text))
    }

    /// `MSGDONE` or `MSGFAIL`; any other notification, and an unknown number, is ignored.
    package mutating func received(_ notification: ServerNotification) -> [SessionEvent] {
        switch notification {
        case .msgDone(let sequence, let progressive, let response):
            guard let call = call(sequence, progressive) else { return [] }
            return finish(call, .processed(response: response))
        case .msgFail(let sequence, let progressive, 39, let count):
            return skipped(sequence, upTo: progressive, count: Int(count) ?? 1)
        case .msgFail(let sequence, let progressive, let code, let text):
            guard let call = call(sequence, progressive) else { return [] }
            switch code {
            case 32, 33: return release(call)
            case 38: return finish(call, .discarded)
            case ...0: return finish(call, .denied(code: code, message: text))
            default: return finish(call, .failed)
            }
        default:
            return []
        }
    }

    /// A run of numbers was skipped; the events are in ascending order. Numbers that were never written are ignored.
    private mutating func skipped(_ sequence: String?, upTo last: Int, count: Int) -> [SessionEvent] {
        let first = last - min(max(count, 1), last) + 1
        let end = min(last, lastNumbers[sequence] ?? 0)
        guard first <= end else { return [] }
        // Most numbers of a long run belong to messages that are finished.
        let numbers =
            end - first < numbered.count
            ? Array(first...end)
            : numbered.keys.filter { $0.sequence == sequence && (first...end).contains($0.progressive) }
                .map(\.progressive).sorted()
        return numbers.flatMap { number in
            call(sequence, number).map { finish($0, .discarded) } ?? []
        }
    }

    private func call(_ sequence: String?, _ progressive: Int) -> Int? {
        numbered[MessageNumber(sequence: sequence, progressive: progressive)]
    }

    // MARK: - Ends

    /// The connection that carried the requests is gone, or the control response is complete: unanswered messages are
    /// pending again, with the same numbers. `held`: the copies that stay unanswered.
    package mutating func channelLost(except held: Set<RequestID> = []) {
        for (request, call) in inFlight where !held.contains(request) {
            if messages[call]?.channelLost() == true { due.insert(call) }
            inFlight[request] = nil
        }
    }

    /// The session ended, or the connection effort was given up: all messages are aborted, in the order of the calls,
    /// and numbering starts again.
    package mutating func sessionEnded() -> [SessionEvent] {
        let events = messages.sorted { $0.key < $1.key }.map(\.value).filter(\.hasDelegate).map { message in
            message.endsSilently
                ? SessionEvent.messageReleased(message.token)
                : .message(message.token, .aborted(sentOnNetwork: message.wasWritten))
        }
        released += messages.values.filter { !$0.hasDelegate }.map(\.token)
        messages.removeAll()
        due.removeAll()
        inFlight.removeAll()
        numbered.removeAll()
        lastNumbers.removeAll()
        begun.removeAll()
        return events
    }

    // MARK: - Bookkeeping

    /// Removes a message and returns the event of its outcome, if it has a delegate.
    private mutating func finish(_ call: Int, _ outcome: MessageOutcome) -> [SessionEvent] {
        guard let message = messages[call] else { return [] }
        finish(call)
        return message.hasDelegate ? [.message(message.token, outcome)] : []
    }

    /// Removes a message whose outcome will not arrive: the server has a copy of it already.
    private mutating func release(_ call: Int) -> [SessionEvent] {
        guard let message = messages[call] else { return [] }
        finish(call)
        return message.hasDelegate ? [.messageReleased(message.token)] : []
    }

    private mutating func finish(_ call: Int) {
        guard let message = messages.removeValue(forKey: call) else { return }
        if !message.hasDelegate { released.append(message.token) }
        due.remove(call)
        if let request = message.request { inFlight[request] = nil }
        if let number = message.number { numbered[number] = nil }
    }
}
