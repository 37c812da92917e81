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
    /// Responses held back to the end of the batch by a fault.
    var late: [[UInt8]] = []
    /// Responses lost by a fault.
    var lost = 0
    /// Responses delayed by a fault.
    var owed = 0
    var given = 0
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
