/// The values that all sessions share during an event: the time, the connections, the timers, the installed faults.
struct ServerContext: Sendable {
    let configuration: DemoServerConfiguration
    /// The instant of the present event.
    var now = Duration.zero
    /// The deadlines of all sessions, connections and feeds.
    var timers = DeadlineQueue<TimerKey>()
    var links: LinkTable
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
}
