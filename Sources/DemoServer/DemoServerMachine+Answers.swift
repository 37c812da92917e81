internal import TLCP

extension DemoServerMachine {
    /// What the faults in place do to a request.
    mutating func manner(
        at request: FaultRequest,
        requestID: RequestID?,
        sheet: inout ResponseBatch
    ) -> ResponseFaults {
        var manner = ResponseFaults()
        guard !context.faults.isEmpty else { return manner }
        for effect in context.faults.strikes(at: request, .control) {
            switch effect {
            case .refuse(let code, let message):
                manner.refusal =
                    requestID.map { .reqErr($0, code: code, message: message) }
                    ?? .error(code: code, message: message)
            case .error(let code, let message): manner.refusal = .error(code: code, message: message)
            case .status(let status):
                context.links.respond(sheet.link, HTTPAnswer(status: status))
                manner.isIgnored = true
            case .ignore: manner.isIgnored = true
            case .loseAnswer: manner.isLost = true
            case .delay(let time): manner.delay = time
            case .duplicateAnswer: manner.copies = 2
            case .lateAnswers: manner.isLate = true
            case .rawCommas: manner.keepsCommas = true
            case .wrongCounts(let items, let fields): manner.wrongCounts = (items, fields)
            case .inject(let lines): context.links.inject(lines, on: sheet.link)
            case .loop, .end, .repeatData, .skipData: manner.onStream.append(effect)
            default: context.links.strike(sheet.link, effect, at: context.now, &context.timers)
            }
        }
        return manner
    }

    /// Gives one answer.
    mutating func answer(_ notification: ServerNotification, _ manner: ResponseFaults, _ sheet: inout ResponseBatch) {
        guard !manner.isLost else {
            sheet.lost += 1
            return
        }
        var line = notification.encoded
        if manner.keepsCommas { line.restoreCommas() }
        for _ in 0..<manner.copies {
            if let delay = manner.delay {
                sheet.owed += 1
                lateAnswerCount += 1
                lateAnswers[lateAnswerCount] = LateAnswer(link: sheet.link, line: line)
                context.timers.set(.lateAnswer(lateAnswerCount), at: context.now + delay)
            } else if manner.isLate {
                sheet.late.append(line)
            } else {
                sheet.given += 1
                context.links.write(line, on: sheet.link)
            }
        }
    }

    /// All requests of the sheet were dealt with.
    mutating func finish(_ sheet: ResponseBatch, isIgnored: Bool = false) {
        for line in sheet.late.reversed() { context.links.write(line, on: sheet.link) }
        guard !sheet.isWebSocket else { return }
        if sheet.owed > 0 {
            owedAnswers[sheet.link] = sheet.owed
            return
        }
        // A request whose answers are all lost stays without a response: that is what losing them means over HTTP.
        if sheet.given + sheet.late.count == 0, sheet.lost > 0 || isIgnored { return }
        context.links.end(sheet.link, .complete(closesSocket: false))
    }

    /// An answer that is late on purpose is due.
    mutating func lateAnswerDue(_ number: Int) {
        guard let answer = lateAnswers.removeValue(forKey: number) else { return }
        context.links.write(answer.line, on: answer.link)
        guard let owed = owedAnswers[answer.link] else { return }
        owedAnswers[answer.link] = owed > 1 ? owed - 1 : nil
        if owed <= 1 { context.links.end(answer.link, .complete(closesSocket: false)) }
    }
}

extension [UInt8] {
    /// Undoes the escape of commas, as careless servers write them.
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
    /// The request is as if it had not come.
    var isIgnored = false
    /// The answer gets lost.
    var isLost = false
    /// The answer comes at the end of the batch.
    var isLate = false
    /// The answer comes this much later.
    var delay: Duration?
    /// How often the answer comes.
    var copies = 1
    /// Commas stay as they are.
    var keepsCommas = false
    /// What happens to the session's stream once the request is dealt with.
    var onStream: [FaultEffect] = []
    /// The counts of the announcement are wrong by these.
    var wrongCounts = (items: 0, fields: 0)
}

/// The answers to the requests that came together.
struct ResponseBatch: Sendable {
    /// Where they go.
    let link: LinkID
    /// Whether `LS_ack=false` counts.
    let isWebSocket: Bool
    /// Answers that are held back until all is done, by a fault.
    var late: [[UInt8]] = []
    /// Answers that got lost, by a fault.
    var lost = 0
    /// Answers that will come later, by a fault.
    var owed = 0
    /// Answers given.
    var given = 0

    /// Answers to whatever came on a connection.
    init(link: LinkID, isWebSocket: Bool) {
        self.link = link
        self.isWebSocket = isWebSocket
    }
}
