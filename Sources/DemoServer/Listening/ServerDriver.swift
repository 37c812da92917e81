internal import Logging
internal import NIOCore
internal import Primitives

/// Owns the machine and performs its actions; confined to one event loop, which all channels share.
final class ServerDriver {
    let configuration: DemoServerConfiguration
    let loop: any EventLoop

    private let clockStart: Int64
    private let logger: Logger
    private let start = NIODeadline.now()
    private(set) var machine: DemoServerMachine
    private var outlets: [LinkID: any LinkOutlet] = [:]
    private var channels: [ObjectIdentifier: any Channel] = [:]
    private var lastLink = 0
    private var timer: (task: Scheduled<Void>, at: Duration)?
    /// Actions not performed yet: performing one may cause the next event, whose actions follow these.
    private var actions: [ServerAction] = []
    private var isPerforming = false
    private var watches: [CensusWatch] = []
    private var isShutDown = false
    /// The time of a manual clock.
    private var manualNow = Duration.zero

    /// A driver on its event loop. `clockStart`: milliseconds since 1970, now.
    init(_ configuration: DemoServerConfiguration, clockStart: Int64, loop: any EventLoop, logger: Logger) {
        self.configuration = configuration
        self.clockStart = clockStart
        self.loop = loop
        self.logger = logger
        machine = DemoServerMachine(
            configuration,
            clockStart: clockStart,
            identitySeed: UInt64.random(in: .min ... .max)
        )
        reschedule()
    }

    /// The time since the server's start.
    var now: Duration {
        configuration.hasManualClock ? manualNow : .nanoseconds((NIODeadline.now() - start).nanoseconds)
    }

    /// The present date for HTTP headers.
    var date: String { HTTPDate.text(for: Int(clockStart / 1_000 + now.components.seconds)) }

    /// Registers an accepted connection; false if there are too many.
    func accepted(_ channel: any Channel) -> Bool {
        guard channels.count < configuration.limits.connections else { return false }
        let key = ObjectIdentifier(channel)
        channels[key] = channel
        let driver = NIOLoopBound(self, eventLoop: loop)
        channel.closeFuture.whenComplete { _ in driver.value.channels[key] = nil }
        return true
    }

    /// A client requested a WebSocket; nil to grant it, or the HTTP status of the refusal.
    func webSocketRequested() -> Int? { machine.webSocketRequested(at: now) }

    func webSocketOpened(_ outlet: any LinkOutlet, subprotocol: String?, from peer: String) -> LinkID {
        let link = nextLink(outlet)
        logger.debug("webSocket opened", metadata: ["link": "\(link)", "peer": "\(peer)"])
        perform(machine.webSocketOpened(link, subprotocol: subprotocol, from: peer, at: now))
        return link
    }

    func received(_ message: [UInt8], on link: LinkID) {
        logger.trace("message", metadata: ["link": "\(link)", "bytes": "\(message.count)"])
        perform(machine.received(message: message, on: link, at: now))
    }

    func requested(
        _ request: HTTPRequestText,
        _ outlet: any LinkOutlet,
        from peer: String,
        connectedAt opening: Duration
    ) -> LinkID {
        let link = nextLink(outlet)
        logger.trace("request", metadata: ["link": "\(link)", "path": "\(request.path)", "peer": "\(peer)"])
        // Performed after the outlet has its link: the response may be among the actions.
        loop.assumeIsolated().execute { [self] in
            guard outlets[link] != nil else { return }
            perform(machine.requested(request, on: link, from: peer, connectedAt: opening, at: now))
        }
        return link
    }

    func closed(_ link: LinkID) {
        outlets[link] = nil
        perform(machine.closed(link, at: now))
    }

    /// The peer of a connection accepts bytes again, or no more for now.
    func writabilityChanged(of link: LinkID, to takesBytes: Bool) {
        perform(machine.writabilityChanged(of: link, to: takesBytes, at: now))
    }

    /// Reports an event to the machine, with the present time.
    func report(_ event: (inout DemoServerMachine, Duration) -> [ServerAction]) { perform(event(&machine, now)) }

    /// Changes the meaning of messages with a text.
    func respond(to text: String, as command: String?) { machine.host.metadata.respond(to: text, as: command) }

    /// Moves a manual clock to each deadline on the way, and to the end.
    func advance(by duration: Duration) {
        let end = manualNow + max(.zero, duration)
        while let deadline = machine.nextDeadline, deadline <= end {
            manualNow = max(manualNow, deadline)
            perform(machine.timePassed(at: manualNow))
        }
        manualNow = end
    }

    /// Adds a watch of the counts; dropped after the shutdown.
    func add(_ watch: CensusWatch) { if !isShutDown, !watch.isMet(by: machine.census) { watches.append(watch) } }

    func shutDown() {
        isShutDown = true
        watches = []
        logger.debug("shutting down", metadata: ["connections": "\(channels.count)"])
        perform(machine.shutDown(at: now))
        timer?.task.cancel()
        for channel in channels.values { channel.close(promise: nil) }
    }

    private func nextLink(_ outlet: any LinkOutlet) -> LinkID {
        lastLink += 1
        let link = LinkID(lastLink)
        outlets[link] = outlet
        return link
    }

    private func perform(_ new: [ServerAction]) {
        actions.append(contentsOf: new)
        guard !isPerforming else { return }
        isPerforming = true
        while !actions.isEmpty {
            let batch = actions
            actions.removeAll(keepingCapacity: true)
            for action in batch { perform(action) }
        }
        isPerforming = false
        reschedule()
        guard !watches.isEmpty else { return }
        let census = machine.census
        watches.removeAll { $0.isMet(by: census) }
    }

    private func perform(_ action: ServerAction) {
        switch action {
        case .respond(let link, let answer): outlets.removeValue(forKey: link)?.respond(answer)
        case .openStream(let link): outlets[link]?.openStream()
        case .write(let link, let bytes, let isFragment): outlets[link]?.write(bytes, isFragment: isFragment)
        case .endStream(let link, let closesSocket):
            outlets.removeValue(forKey: link)?.endStream(closesSocket: closesSocket)
        case .close(let link, let code): outlets.removeValue(forKey: link)?.close(code: code)
        case .cut(let link):
            logger.debug("connection cut", metadata: ["link": "\(link)"])
            outlets.removeValue(forKey: link)?.cut()
        case .stopReading(let link): outlets[link]?.stopReading()
        }
    }

    /// Keeps one timer for the machine's next deadline; a timer that fires too early only sets the next. Of a manual clock
    /// only what is due already has a timer.
    private func reschedule() {
        guard let deadline = machine.nextDeadline else { return }
        if configuration.hasManualClock, deadline > manualNow { return }
        if let timer, timer.at <= deadline { return }
        timer?.task.cancel()
        let delay = TimeAmount(max(.zero, deadline - now))
        let task = loop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
            guard let self else { return }
            timer = nil
            perform(machine.timePassed(at: now))
        }
        timer = (task, deadline)
    }
}
