internal import TLCP

/// The effects of installed faults on the response to one request.
struct ResponseFaults: Sendable {
    var refusal: ServerNotification?
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
    /// The effects of faults on the present request.
    private(set) var faults = ResponseFaults()
    /// Responses held back to the end of the batch by a fault.
    private var late: [[UInt8]] = []
    /// Whether a fault has taken a response, or a request.
    private var hasLoss = false
    /// Responses delayed by a fault.
    private var owed = 0
    private var given = 0

    init(link: LinkID, isWebSocket: Bool) { (self.link, self.isWebSocket) = (link, isWebSocket) }

    mutating func beginRequest() { faults = ResponseFaults() }

    /// Takes the faults of the present request; those that concern the connection are applied.
    mutating func applyFaults(at request: FaultRequest, _ requestID: RequestID?, _ context: inout ServerContext) {
        for effect in context.faults.effects(at: request, .control) {
            switch effect {
            case .refuse(let code, let message):
                faults.refusal =
                    requestID.map { .reqErr($0, code: code, message: message) }
                    ?? .error(code: code, message: message)
            case .error(let code, let message): faults.refusal = .error(code: code, message: message)
            case .status(let status):
                context.links.respond(link, HTTPAnswer(status: status))
                faults.isIgnored = true
            case .ignore: faults.isIgnored = true
            case .loseAnswer: faults.isLost = true
            case .delay(let time): faults.delay = time
            case .duplicateAnswer: faults.copies = 2
            case .lateAnswers: faults.isLate = true
            case .rawCommas: faults.keepsCommas = true
            case .wrongCounts(let items, let fields): faults.wrongCounts = (items, fields)
            case .inject(let lines): context.links.inject(lines, on: link)
            case .loop, .end, .repeatData, .skipData: faults.onStream.append(effect)
            default: context.links.apply(link, effect, at: context.now, &context.timers)
            }
        }
        if faults.isIgnored { hasLoss = true }
    }

    /// Writes a response to the present request, as far as the faults allow.
    mutating func answer(_ notification: ServerNotification, _ context: inout ServerContext) {
        guard !faults.isLost else {
            hasLoss = true
            return
        }
        var line = notification.encoded
        if faults.keepsCommas { line.replace(Array("%2C".utf8), with: [UInt8(ascii: ",")]) }
        for _ in 0..<faults.copies {
            if let delay = faults.delay {
                owed += 1
                context.timers.set(.lateAnswer(context.lateAnswers.add(line, to: link)), at: context.now + delay)
            } else if faults.isLate {
                late.append(line)
            } else {
                given += 1
                context.write(line, on: link)
            }
        }
    }

    /// Ends the batch after all its requests were handled.
    func finish(_ context: inout ServerContext) {
        for line in late.reversed() { context.write(line, on: link) }
        guard !isWebSocket else { return }
        if owed > 0 { return context.lateAnswers.end(link, after: owed) }
        // An HTTP request whose responses are all lost gets no HTTP response either.
        if given + late.count == 0, hasLoss { return }
        context.links.end(link, .complete(closesSocket: false))
    }
}

/// Responses that faults delay.
struct LateAnswers: Sendable {
    private var answers: [Int: (link: LinkID, line: [UInt8])] = [:]
    private var count = 0
    /// The number of delayed responses that an HTTP request still waits for.
    private var owed: [LinkID: Int] = [:]

    /// Keeps a response; returns its number.
    mutating func add(_ line: [UInt8], to link: LinkID) -> Int {
        count += 1
        answers[count] = (link, line)
        return count
    }

    /// The response to an HTTP request ends with the last of these delayed ones.
    mutating func end(_ link: LinkID, after count: Int) { owed[link] = count }

    /// Removes and returns a response; `isLast`: it ends the response to an HTTP request.
    mutating func take(_ number: Int) -> (link: LinkID, line: [UInt8], isLast: Bool)? {
        guard let (link, line) = answers.removeValue(forKey: number) else { return nil }
        guard let left = owed[link] else { return (link, line, false) }
        owed[link] = left > 1 ? left - 1 : nil
        return (link, line, left <= 1)
    }

    mutating func ended(_ link: LinkID) { owed[link] = nil }
}
