/// The answers to the requests that came together.
struct AnswerSheet: Sendable {
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
