internal import TLCP

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

    // MARK: - Creations and binds

    /// Answers a create or bind with one line. The line ends an HTTP response; a WebSocket stays open for another
    /// attempt.
    mutating func refuse(_ id: LinkID, _ notification: ServerNotification) {
        write(notification.encoded, on: id)
        if links[id]?.kind == .webSocket {
            if links[id]?.stream == nil { links[id]?.defaultSession = nil }
        } else {
            links.end(id, .complete(closesSocket: false))
        }
    }

    /// Applies the effects of faults to a create or bind, and those of faults of streaming connections. Returns the effects
    /// for the stream once it is bound; nil: a fault has answered the request.
    mutating func apply(_ effects: [FaultEffect], isStreaming: Bool, on id: LinkID) -> [FaultEffect]? {
        var onStream: [FaultEffect] = []
        for effect in effects + (isStreaming ? faults.effects(at: .streaming) : []) {
            switch effect {
            case .refuse(let code, let message):
                refuse(id, .conErr(code: code, message: message))
                return nil
            case .end(let code, let message):
                refuse(id, .end(code: code, message: message))
                return nil
            case .error(let code, let message):
                refuse(id, .error(code: code, message: message))
                return nil
            case .status(let status):
                links.respond(id, HTTPAnswer(status: status))
                return nil
            case .ignore: return nil
            case .inject(let lines): links.inject(lines, on: id)
            case .loop, .repeatData, .skipData: onStream.append(effect)
            default: links.apply(id, effect, at: now, &timers)
            }
        }
        return links[id] == nil ? nil : onStream
    }
}
