internal import TLCP

extension DemoSession {
    /// Writes a notification that is not counted.
    mutating func write(_ notification: ServerNotification, _ context: inout ServerContext) {
        write(notification.encoded, &context)
    }

    /// Writes a line, complete with CR-LF, on the stream connection.
    mutating func write(_ line: [UInt8], _ context: inout ServerContext) {
        guard let link = stream?.link else { return }
        stream?.written += line.count
        context.write(line, on: link)
    }

    /// Sends all that may be sent now, and sets the timer for the rest.
    mutating func pump(_ context: inout ServerContext) {
        guard let stream else { return }
        guard stream.takesData else { return gather(&context) }
        while canWrite(&context) {
            if let line = log.unsent.first {
                guard self.stream?.hasRoom(for: line.count) ?? false else { return loop(&context) }
                log.written()
                writeData(line, &context)
            } else if let line = log.takeQueued() {
                commit(line, &context)
            } else if !commitNextEvent(&context) {
                break
            }
        }
        scheduleNext(&context)
    }

    /// Whether the connection accepts data; sets the timer if the present event has filled its buffer.
    private func canWrite(_ context: inout ServerContext) -> Bool {
        guard let link = stream.flatMap({ context.links[$0.link] }), link.isWritable(at: context.now) else {
            return false
        }
        guard link.kind == .exchange || link.pending.count < context.configuration.limits.writeBuffer else {
            context.timers.set(.session(handle, .pump), at: context.now)
            return false
        }
        return true
    }

    private mutating func commit(_ line: [UInt8], _ context: inout ServerContext) {
        log.append(line, at: context.now)
        context.notifications += 1
    }

    private mutating func writeData(_ line: [UInt8], _ context: inout ServerContext) {
        guard let stream else { return }
        self.stream?.dataCount += 1
        if context.links[stream.link]?.faults.skipsNextData == true {
            context.links[stream.link]?.faults.skipsNextData = false
        } else {
            write(line, &context)
        }
        guard !context.faults.isEmpty else { return }
        for effect in context.faults.effects(at: .data(stream.dataCount + 1)) { apply(effect, &context) }
    }

    /// Commits one event of one channel; false if none may be sent now.
    private mutating func commitNextEvent(_ context: inout ServerContext) -> Bool {
        let now = context.now
        schedule.delaysEnded(by: now)
        guard bandwidth.closedUntil(at: now) == nil, let line = schedule.nextLine(at: now) else { return false }
        bandwidth.spent(line.count, at: now)
        commit(line, &context)
        return true
    }

    /// Sets the timer for the instant at which frequency and bandwidth allow the next event.
    private mutating func scheduleNext(_ context: inout ServerContext) {
        guard stream != nil else { return }
        let free = bandwidth.closedUntil(at: context.now)
        let next = schedule.isReady ? free : schedule.endOfDelay.map { max($0, free ?? $0) }
        if let next, next > context.now { context.timers.set(.session(handle, .pump), at: next) }
    }

    /// Whether an event is pending that may be sent now.
    mutating func hasPending(at now: Duration) -> Bool {
        !log.isWritten || schedule.isReady || (schedule.endOfDelay.map { $0 <= now } ?? false)
    }

    /// Starts the gathering of a poll that has data.
    private mutating func gather(_ context: inout ServerContext) {
        guard stream?.poll?.phase == .waiting else { return }
        guard hasPending(at: context.now) else {
            if let next = schedule.endOfDelay { context.timers.set(.session(handle, .pump), at: next) }
            return
        }
        stream?.poll?.phase = .gathering
        context.timers.set(.session(handle, .poll), at: context.now + context.configuration.timings.pollGathering)
    }

    /// Answers a poll with the pending data and ends it; without data it continues to wait for its idle time.
    mutating func answerPoll(_ context: inout ServerContext) {
        guard let poll = stream?.poll, let since = stream?.boundAt else { return }
        stream?.poll?.phase = .answering
        pump(&context)
        // The content length or a fault may have ended the connection.
        guard let stream else { return }
        if stream.dataCount == 0, since + poll.idle > context.now {
            self.stream?.poll?.phase = .waiting
            context.timers.set(.session(handle, .poll), at: since + poll.idle)
            gatherLater(&context)
        } else {
            loop(&context)
        }
    }

    private mutating func gatherLater(_ context: inout ServerContext) {
        let free = bandwidth.closedUntil(at: context.now)
        guard let next = [schedule.endOfDelay, free].compactMap(\.self).min(), next > context.now else { return }
        context.timers.set(.session(handle, .pump), at: next)
    }
}
