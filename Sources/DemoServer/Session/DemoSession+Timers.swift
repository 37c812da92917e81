internal import TLCP

extension DemoSession {
    /// A timer of this session fired; the machine handles those of messages.
    mutating func timerFired(_ timer: DemoSessionTimer, _ context: inout ServerContext) {
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

    /// Sends `PROBE` at 95 % of the interval, because clients count from their last read. The timer is not reset by
    /// every write: when it fires, it compares with the time of the last one.
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

    /// Writes a notification that is not counted, or `LOOP` if it does not fit; false in that case.
    mutating func writeOrLoop(_ notification: ServerNotification, _ context: inout ServerContext) -> Bool {
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

/// The timers of a session.
enum DemoSessionTimer: Sendable, Hashable {
    /// Nothing was written for the keepalive interval.
    case keepalive
    /// The next `SYNC`.
    case sync
    /// The client sent no request within its inactivity time.
    case inactivity
    /// The idle time or the gathering time of a poll is over.
    case poll
    /// The frequency of an item or the bandwidth allows the next event.
    case pump
    /// The session was not bound in time.
    case expiry
    /// The waiting time of a message of this sequence is over.
    case skip(sequence: String)
    /// The processing of a delayed message is complete; nil for messages without sequence.
    case work(sequence: String?)
}

/// The timers of the server.
enum TimerKey: Sendable, Hashable {
    /// A feed changes.
    case feeds
    /// A timer of a session.
    case session(SessionHandle, DemoSessionTimer)
    /// A stalled connection may write again.
    case stall(LinkID)
    /// A WebSocket may have been silent for too long.
    case idle(LinkID)
    /// The peer of a connection has accepted nothing for too long.
    case stuck(LinkID)
    /// A response delayed by a fault is due.
    case lateAnswer(Int)
    /// The data of a closed session can be removed.
    case tombstone(SessionHandle)
}

extension Duration {
    /// Whole milliseconds, rounded down, not below 0; the unit of TLCP.
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

    /// A number of seconds, limited to 0 … one year.
    static func boundedSeconds(_ seconds: Double) -> Duration {
        .microseconds(Int64(min(max(seconds, 0), 31_536_000) * 1_000_000))
    }

    /// A number of milliseconds, limited to 0 … one year.
    static func boundedMilliseconds(_ milliseconds: Int) -> Duration {
        .milliseconds(min(max(milliseconds, 0), 31_536_000_000))
    }
}
