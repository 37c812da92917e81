internal import DemoServer
internal import SessionCore
internal import TLCP
internal import TestSupport

/// The client's session machine and the demo server's machine, joined by simulated links in virtual time.
///
/// All random values follow from the seed. Faults happen when a given number of lines has arrived on stream
/// connections, counted over the whole conversation.
final class Conversation {
    /// A scheduled event.
    enum Occurrence {
        case opened(ConnectionID)
        case bytes(ConnectionID, [UInt8])
        case ended(ConnectionID, TransportEnd)
        case handshake(LinkID, subprotocol: String?)
        case request(LinkID, HTTPRequestText)
        case message(LinkID, [UInt8])
        case closed(LinkID)
        case timer(SessionTimer)
        case publication
        case trouble(Disturbance)
    }

    var client: SessionMachine
    var server: DemoServerMachine
    var clock = ManualClock<Occurrence>()
    var random: SeededGenerator
    var links: [ConnectionID: SimulatedLink] = [:]
    var timers: [SessionTimer: ManualClock<Occurrence>.Ticket] = [:]
    var options: ConnectionOptionValues
    var checker = EventChecker()
    var publisher: Publisher
    /// The disturbances, by the number of lines before them.
    var troubles: [Int: [Disturbance]] = [:]
    /// The actions when a status is reached for the first time.
    var reactions: [ClientStatus: [Disturbance]] = [:]
    /// The purposes of the timers that fired.
    var firedTimers: Set<SessionTimer.Purpose> = []
    /// Lines that arrived on stream connections so far.
    var lineCount = 0
    /// How many of the next connections cannot be opened.
    var refusals = 0
    /// The delay of bytes on the next connection that the client opens.
    var slowness = Duration.zero
    /// Whether the bytes of the server arrive in small pieces.
    var isSplit = false
    /// The longest time that bytes are under way.
    var latency = Duration.milliseconds(30)

    init(
        seed: UInt64,
        transport: ForcedTransport?,
        options change: (inout ConnectionOptionValues) -> Void = { _ in },
        server configure: (inout DemoServerConfiguration) -> Void = { _ in }
    ) {
        var options = ConnectionOptionValues()
        options.forcedTransport = transport
        change(&options)
        self.options = options
        var details = ConnectionDetailValues()
        details.serverAddress = "http://server"
        details.adapterSet = "DEMO"
        client = SessionMachine(options: options, details: details)
        var configuration = DemoServerConfiguration()
        configuration.manualFeeds = Publisher.feeds
        configuration.feeds.isMoving = false
        configuration.limits.padding = 0
        configure(&configuration)
        server = DemoServerMachine(configuration, identitySeed: seed)
        random = SeededGenerator(seed: seed)
        publisher = Publisher(seed: seed)
    }

    /// The present moment and a random number, for the client.
    func context() -> EventContext {
        EventContext(
            now: Moment(nanoseconds: clock.now.clampedNanoseconds),
            random: Double.random(in: 0..<1, using: &random)
        )
    }

    /// Lets time pass and performs what is due.
    func run(for time: Duration) {
        let end = clock.now + time
        var steps = 0
        while checker.violations.isEmpty {
            let due = min(clock.next ?? end, server.nextDeadline ?? end)
            guard due < end else { break }
            steps += 1
            if steps > 100_000 { checker.violations.append("the conversation does not come to rest") }
            if let deadline = server.nextDeadline, deadline <= clock.next ?? end {
                clock.advance(to: deadline)
                perform(server.timePassed(at: clock.now))
            } else if let occurrence = clock.advanceToNext() {
                happen(occurrence)
            }
        }
        clock.advance(to: end)
    }

    private func happen(_ occurrence: Occurrence) {
        let now = clock.now
        switch occurrence {
        case .opened(let connection): opened(connection)
        case .bytes(let connection, let bytes): arrived(bytes, on: connection)
        case .ended(let connection, let closure): ended(connection, closure)
        case .handshake(let link, let subprotocol): handshake(link, subprotocol)
        case .request(let link, let request):
            links[ConnectionID(link)]?.isServerPresent = true
            let opening = links[ConnectionID(link)]?.openedAt
            perform(server.requested(request, on: link, from: "10.0.0.1", connectedAt: opening, at: now))
        case .message(let link, let message): perform(server.received(message: message, on: link, at: now))
        case .closed(let link): perform(server.closed(link, at: now))
        case .timer(let timer):
            timers[timer] = nil
            firedTimers.insert(timer.purpose)
            perform(client.timerFired(timer, at: context()))
        case .publication: publish()
        case .trouble(let trouble):
            let stream = links.filter { $0.value.isStream && $0.value.isClientPresent }.keys
            cause(trouble, on: stream.max { $0.rawValue < $1.rawValue } ?? ConnectionID(0))
        }
    }

    /// The disturbances after the present number of lines.
    func strike(on connection: ConnectionID) {
        lineCount += 1
        for trouble in troubles.removeValue(forKey: lineCount) ?? [] { cause(trouble, on: connection) }
    }

    private func cause(_ trouble: Disturbance, on connection: ConnectionID) {
        switch trouble {
        case .link(.drop): breakLink(connection)
        case .link(.halfOpen): links[connection]?.isHalfOpen = true
        case .link(.stall(let time)): links[connection]?.stall(until: clock.now + time)
        case .refusal(let count): refusals += count
        case .slowOpening(let time): slowness = time
        case .server(let faults): perform(server.faultsInstalled(faults, at: clock.now))
        case .user(let deed): perform(deed)
        }
    }
}

extension ConnectionID {
    init(_ link: LinkID) { self.init(UInt64(link.rawValue)) }
}

extension LinkID {
    init(_ connection: ConnectionID) { self.init(Int(connection.rawValue)) }
}
