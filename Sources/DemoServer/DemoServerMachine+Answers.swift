internal import TLCP

extension DemoServerMachine {
    /// The effects of the installed faults on the response to a request.
    mutating func faultEffects(
        at request: FaultRequest,
        requestID: RequestID?,
        batch: inout ResponseBatch
    ) -> ResponseFaults {
        var faults = ResponseFaults()
        guard !context.faults.isEmpty else { return faults }
        for effect in context.faults.effects(at: request, .control) {
            switch effect {
            case .refuse(let code, let message):
                faults.refusal =
                    requestID.map { .reqErr($0, code: code, message: message) }
                    ?? .error(code: code, message: message)
            case .error(let code, let message): faults.refusal = .error(code: code, message: message)
            case .status(let status):
                context.links.respond(batch.link, HTTPAnswer(status: status))
                faults.isIgnored = true
            case .ignore: faults.isIgnored = true
            case .loseAnswer: faults.isLost = true
            case .delay(let time): faults.delay = time
            case .duplicateAnswer: faults.copies = 2
            case .lateAnswers: faults.isLate = true
            case .rawCommas: faults.keepsCommas = true
            case .wrongCounts(let items, let fields): faults.wrongCounts = (items, fields)
            case .inject(let lines): context.links.inject(lines, on: batch.link)
            case .loop, .end, .repeatData, .skipData: faults.onStream.append(effect)
            default: context.links.apply(batch.link, effect, at: context.now, &context.timers)
            }
        }
        return faults
    }

    /// Writes one response, as far as the faults allow.
    mutating func answer(_ notification: ServerNotification, _ faults: ResponseFaults, _ batch: inout ResponseBatch) {
        guard !faults.isLost else {
            batch.lost += 1
            return
        }
        var line = notification.encoded
        if faults.keepsCommas { line.restoreCommas() }
        for _ in 0..<faults.copies {
            if let delay = faults.delay {
                batch.owed += 1
                lateAnswerCount += 1
                lateAnswers[lateAnswerCount] = LateAnswer(link: batch.link, line: line)
                context.timers.set(.lateAnswer(lateAnswerCount), at: context.now + delay)
            } else if faults.isLate {
                batch.late.append(line)
            } else {
                batch.given += 1
                context.links.write(line, on: batch.link)
            }
        }
    }

    /// Ends the batch after all its requests were handled.
    mutating func finish(_ batch: ResponseBatch, isIgnored: Bool = false) {
        for line in batch.late.reversed() { context.links.write(line, on: batch.link) }
        guard !batch.isWebSocket else { return }
        if batch.owed > 0 {
            pendingAnswers[batch.link] = batch.owed
            return
        }
        // An HTTP request whose responses are all lost gets no HTTP response either.
        if batch.given + batch.late.count == 0, batch.lost > 0 || isIgnored { return }
        context.links.end(batch.link, .complete(closesSocket: false))
    }

    /// Writes a delayed response.
    mutating func lateAnswerDue(_ number: Int) {
        guard let answer = lateAnswers.removeValue(forKey: number) else { return }
        context.links.write(answer.line, on: answer.link)
        guard let owed = pendingAnswers[answer.link] else { return }
        pendingAnswers[answer.link] = owed > 1 ? owed - 1 : nil
        if owed <= 1 { context.links.end(answer.link, .complete(closesSocket: false)) }
    }
}

extension [UInt8] {
    /// Replaces escaped commas with bare ones, as some servers send them.
    fileprivate mutating func restoreCommas() {
        var result: [UInt8] = []
        var index = startIndex
        while index < endIndex {
            if self[index...].starts(with: "%2C".utf8) {
                result.append(UInt8(ascii: ","))
                index += 3
            } else {
                result.append(self[index])
                index += 1
            }
        }
        self = result
    }
}

/// The effects of installed faults on the response to one request.
struct ResponseFaults: Sendable {
    /// The request is refused.
    var refusal: ServerNotification?
    /// The request is neither executed nor answered.
    var isIgnored = false
    var isLost = false
    /// The response is written at the end of the batch.
    var isLate = false
    /// The response is delayed by this time.
    var delay: Duration?
    /// How often the response is written.
    var copies = 1
    /// Commas are not escaped.
    var keepsCommas = false
    /// Effects on the session's stream after the request was handled.
    var onStream: [FaultEffect] = []
    /// Added to the counts of `SUBOK` and `SUBCMD`.
    var wrongCounts = (items: 0, fields: 0)
}

/// The responses to the requests of one message or HTTP request.
struct ResponseBatch: Sendable {
    /// The connection that they are written to.
    let link: LinkID
    /// Whether `LS_ack=false` is honoured.
    let isWebSocket: Bool
    /// Responses held back to the end of the batch by a fault.
    var late: [[UInt8]] = []
    /// Responses lost by a fault.
    var lost = 0
    /// Responses delayed by a fault.
    var owed = 0
    /// Responses written.
    var given = 0
}
