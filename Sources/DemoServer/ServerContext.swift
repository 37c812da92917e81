/// The values that all sessions share during an event: the time, the connections, the timers, the installed faults.
struct ServerContext: Sendable {
    let configuration: DemoServerConfiguration
    /// The instant of the present event.
    var now = Duration.zero
    /// The deadlines of all sessions, connections and feeds.
    var timers = DeadlineQueue<TimerKey>()
    var links: LinkTable
    var lateAnswers = LateAnswers()
    var faults = FaultPlan()
    /// Data notifications committed so far.
    var notifications = 0
    /// Sessions that ended in the present event, and the error for a late bind.
    var ended: [(session: SessionHandle, end: SessionEnd?)] = []

    init(_ configuration: DemoServerConfiguration) {
        self.configuration = configuration
        links = LinkTable(seed: configuration.seed)
        for fault in configuration.faults { faults.install(fault) }
    }

    /// Writes a line of a session or of a response. The `PROBE` of a stream is due later then.
    mutating func write(_ line: [UInt8], on id: LinkID) {
        links[id]?.lastWrite = now
        links.write(line, on: id)
    }

    /// Writes a response that a fault has delayed.
    mutating func lateAnswerDue(_ number: Int) {
        guard let (link, line, isLast) = lateAnswers.take(number) else { return }
        write(line, on: link)
        if isLast { links.end(link, .complete(closesSocket: false)) }
    }
}
