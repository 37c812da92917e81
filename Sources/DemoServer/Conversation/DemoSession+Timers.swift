internal import TLCP

extension DemoSession {
    /// A timer of this session has run out; those about messages are dealt with elsewhere.
    mutating func timerFired(_ timer: SessionTimer, _ desk: inout ServerDesk) {
        switch timer {
        case .keepalive: keepaliveDue(&desk)
        case .sync: syncDue(&desk)
        case .inactivity: inactivityDue(&desk)
        case .poll: answerPoll(&desk)
        case .pump: pump(&desk)
        case .expiry: if stream == nil { desk.ended.append((handle, nil)) }
        case .skip, .work: break
        }
    }

    /// Slightly early, for clients are not patient. The timer is not moved at every write: it looks when it is due.
    private mutating func keepaliveDue(_ desk: inout ServerDesk) {
        guard let stream, stream.poll == nil else { return }
        let interval = stream.keepalive * 0.95
        if stream.lastWrite + interval <= desk.now, !writeOrLoop(.probe, &desk) { return }
        let last = self.stream?.lastWrite ?? desk.now
        desk.timers.set(.session(handle, .keepalive), at: last + interval)
    }

    private mutating func syncDue(_ desk: inout ServerDesk) {
        guard let stream, stream.sendsSync else { return }
        guard writeOrLoop(.sync(seconds: (desk.now - stream.boundAt).wholeSeconds), &desk) else { return }
        desk.timers.set(.session(handle, .sync), at: desk.now + desk.configuration.timings.syncPeriod)
    }

    /// Writes a line that is not counted, unless it is the time for `LOOP`; false in that case.
    private mutating func writeOrLoop(_ notification: ServerNotification, _ desk: inout ServerDesk) -> Bool {
        let line = notification.encoded
        guard let stream,
            stream.contentLength.map({ stream.written + line.count + StreamBinding.reserve <= $0 }) ?? true
        else {
            loop(&desk)
            return false
        }
        write(line, &desk)
        return true
    }

    private mutating func inactivityDue(_ desk: inout ServerDesk) {
        guard let stream, let inactivity = stream.inactivity else { return }
        let end = stream.lastRequest + inactivity + desk.configuration.timings.inactivityGrace
        if end <= desk.now {
            loop(&desk)
        } else {
            desk.timers.set(.session(handle, .inactivity), at: end)
        }
    }
}
