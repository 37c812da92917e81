/// What all sessions share while an event is dealt with: the time, the connections, the timers, the faults in place.
struct ServerContext: Sendable {
    /// What the server was made with.
    let configuration: DemoServerConfiguration
    /// The instant of the present event.
    var now = Duration.zero
    /// What becomes due when.
    var timers = DeadlineQueue<TimerKey>()
    /// The connections.
    var links: LinkTable
    /// What goes wrong next.
    var faults = FaultPlan()
    /// Data notifications committed so far.
    var notifications = 0
    /// Sessions that ended in the present event, and what a late bind is told.
    var ended: [(session: SessionHandle, farewell: SessionEnd?)] = []

    /// An empty context.
    init(_ configuration: DemoServerConfiguration) {
        self.configuration = configuration
        links = LinkTable(seed: configuration.seed)
        for fault in configuration.faults { faults.install(fault) }
    }
}
