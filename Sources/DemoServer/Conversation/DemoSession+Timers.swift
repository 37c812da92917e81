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
