internal import TLCP

extension DemoSession {
    /// A timer of this session has run out; those about messages are dealt with elsewhere.
    mutating func timerFired(_ timer: SessionTimer, _ context: inout ServerContext) {
        switch timer {
        case .keepalive: keepaliveDue(&context)
        case .sync: syncDue(&context)
        case .inactivity: inactivityDue(&context)
        case .poll: answerPoll(&context)
        case .pump: pump(&context)
        case .expiry: if stream == nil { context.ended.append((handle, nil)) }
        case .skip, .work: break
        }
    }

    /// Slightly early, for clients are not patient. The timer is not moved at every write: it looks when it is due.
    private mutating func keepaliveDue(_ context: inout ServerContext) {
        guard let stream, stream.poll == nil else { return }
        let interval = stream.keepalive * 0.95
        if stream.lastWrite + interval <= context.now, !writeOrLoop(.probe, &context) { return }
        let last = self.stream?.lastWrite ?? context.now
        context.timers.set(.session(handle, .keepalive), at: last + interval)
    }

    private mutating func syncDue(_ context: inout ServerContext) {
        guard let stream, stream.sendsSync else { return }
        guard writeOrLoop(.sync(seconds: (context.now - stream.boundAt).wholeSeconds), &context) else { return }
        context.timers.set(.session(handle, .sync), at: context.now + context.configuration.timings.syncPeriod)
    }

    /// Writes a line that is not counted, unless it is the time for `LOOP`; false in that case.
    private mutating func writeOrLoop(_ notification: ServerNotification, _ context: inout ServerContext) -> Bool {
        let line = notification.encoded
        guard let stream,
            stream.contentLength.map({ stream.written + line.count + StreamBinding.reserve <= $0 }) ?? true
        else {
            loop(&context)
            return false
        }
        write(line, &context)
        return true
    }

    private mutating func inactivityDue(_ context: inout ServerContext) {
        guard let stream, let inactivity = stream.inactivity else { return }
        let end = stream.lastRequest + inactivity + context.configuration.timings.inactivityGrace
        if end <= context.now {
            loop(&context)
        } else {
            context.timers.set(.session(handle, .inactivity), at: end)
        }
    }
}

/// What can become due in a session.
enum SessionTimer: Sendable, Hashable {
    /// The connection was silent for the keepalive time.
    case keepalive
    /// The next `SYNC`.
    case sync
    /// The client was silent for longer than it promised.
    case inactivity
    /// A poll waited for its idle time, or gathered data for long enough.
    case poll
    /// Some item may send again, or the bandwidth allows more.
    case pump
    /// The session was not bound in time.
    case expiry
    /// A message waited long enough for earlier ones of this sequence.
    case skip(sequence: String)
    /// A message that takes its time is done; nil for those without sequence.
    case work(sequence: String?)
}

/// Everything that can become due.
enum TimerKey: Sendable, Hashable {
    /// Some feed changes by itself.
    case feeds
    /// Something of a session.
    case session(SessionHandle, SessionTimer)
    /// A stalled connection may write again.
    case stall(LinkID)
    /// A WebSocket may have been silent for too long.
    case idle(LinkID)
    /// A connection has taken nothing for too long.
    case stuck(LinkID)
    /// An answer that is late on purpose.
    case lateAnswer(Int)
    /// A closed session need not be remembered any more.
    case tombstone(SessionHandle)
}

extension Duration {
    /// Whole milliseconds, rounded down; what the wire uses.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        let clamped = min(max(seconds, 0), Int64(Int32.max))
        return Int(clamped * 1_000 + (seconds < 0 ? 0 : attoseconds / 1_000_000_000_000_000))
    }

    /// Whole microseconds, rounded down, not below 0.
    var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let clamped = min(max(seconds, 0), Int64(Int32.max))
        return clamped * 1_000_000 + (seconds < 0 ? 0 : attoseconds / 1_000_000_000_000)
    }

    /// Whole seconds, rounded down, not below 0.
    var wholeSeconds: Int {
        Int(min(max(components.seconds, 0), Int64(Int32.max)))
    }

    /// Seconds as a number that may be far out of the range of a duration; held within a year.
    static func boundedSeconds(_ seconds: Double) -> Duration {
        .microseconds(Int64(min(max(seconds, 0), 31_536_000) * 1_000_000))
    }

    /// Milliseconds as a client wrote them; held within a year, and not below 0.
    static func boundedMilliseconds(_ milliseconds: Int) -> Duration {
        .milliseconds(min(max(milliseconds, 0), 31_536_000_000))
    }
}
