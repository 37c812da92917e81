internal import TLCP

extension DemoSession {
    /// Writes a line that is not counted.
    mutating func write(_ notification: ServerNotification, _ context: inout ServerContext) {
        write(notification.encoded, &context)
    }

    /// Writes a line, complete with CR-LF, on the stream connection.
    mutating func write(_ line: [UInt8], _ context: inout ServerContext) {
        guard let link = stream?.link else { return }
        stream?.written += line.count
        stream?.lastWrite = context.now
        context.links.write(line, on: link)
    }

    /// Sends whatever may go now, and arranges for the rest.
    mutating func pump(_ context: inout ServerContext) {
        guard let stream else { return }
        guard stream.takesData else {
            gather(&context)
            return
        }
        while canWrite(&context) {
            if let line = unsent.first {
                guard self.stream?.hasRoom(for: line.count) ?? false else {
                    loop(&context)
                    return
                }
                _ = unsent.popFirst()
                writeData(line, &context)
            } else if let line = outbox.popFirst() {
                outboxBytes -= line.count
                commit(line, &context)
            } else if !commitNextEvent(&context) {
                break
            }
        }
        scheduleNext(&context)
    }

    /// Whether the connection takes data; arranges to be called again if the present step has produced enough.
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
        unsent.append(line)
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
        for effect in context.faults.strikes(at: .data(stream.dataCount + 1)) { strike(effect, &context) }
    }

    /// Commits one event of one channel; false if none may go now.
    private mutating func commitNextEvent(_ context: inout ServerContext) -> Bool {
        let now = context.now
        while let due = waiting.popDue(by: now)?.key { list(due) }
        guard bandwidth.closedUntil(at: now) == nil else { return false }
        while let next = ready.popFirst() {
            guard let line = takeLine(of: next, at: now) else { continue }
            bandwidth.spent(line.count, at: now)
            commit(line, &context)
            return true
        }
        return false
    }

    /// The line of the next event of a channel; nil if there is none that may go now.
    private mutating func takeLine(of next: ChannelReference, at now: Duration) -> [UInt8]? {
        let index = next.index
        guard has(next), let head = subscriptions[next.subscription]?.channels[index].queue.next(at: now) else {
            return nil
        }
        subscriptions[next.subscription]?.channels[index].isListed = false
        switch head {
        case .empty:
            return nil
        case .notBefore(let time):
            waiting.set(next, at: time)
            return nil
        case .event(let event):
            let notification = subscriptions[next.subscription]?.notification(of: event, index: index, diffs: diffs)
            if subscriptions[next.subscription]?.channels[index].queue.isEmpty == false { list(next) }
            return notification?.encoded
        }
    }

    /// Notes that a channel may have something to send.
    mutating func list(_ reference: ChannelReference) {
        guard has(reference), subscriptions[reference.subscription]?.channels[reference.index].isListed == false else {
            return
        }
        subscriptions[reference.subscription]?.channels[reference.index].isListed = true
        ready.append(reference)
    }

    /// Whether the channel still exists: a number may have been used again for a smaller subscription.
    private func has(_ reference: ChannelReference) -> Bool {
        subscriptions[reference.subscription]?.channels.indices.contains(reference.index) ?? false
    }

    /// Arranges to go on when an item's frequency or the bandwidth allows it.
    private mutating func scheduleNext(_ context: inout ServerContext) {
        guard stream != nil else { return }
        let free = bandwidth.closedUntil(at: context.now)
        let next = ready.isEmpty ? waiting.earliest.map { max($0, free ?? $0) } : free
        if let next, next > context.now { context.timers.set(.session(handle, .pump), at: next) }
    }

    /// Whether something waits that may be ready to go.
    mutating func hasPending(at now: Duration) -> Bool {
        !unsent.isEmpty || !outbox.isEmpty || !ready.isEmpty || (waiting.earliest.map { $0 <= now } ?? false)
    }

    /// A poll has something to say: it waits a moment for more.
    private mutating func gather(_ context: inout ServerContext) {
        guard stream?.poll?.phase == .waiting else { return }
        guard hasPending(at: context.now) else {
            if let next = waiting.earliest { context.timers.set(.session(handle, .pump), at: next) }
            return
        }
        stream?.poll?.phase = .gathering
        context.timers.set(.session(handle, .poll), at: context.now + context.configuration.timings.pollGathering)
    }

    /// A poll is answered with all there is, and ends; if nothing may go yet after all, it waits on.
    mutating func answerPoll(_ context: inout ServerContext) {
        guard let poll = stream?.poll, let since = stream?.boundAt else { return }
        stream?.poll?.phase = .answering
        pump(&context)
        // The connection may have ended by its content length, or by a fault.
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
        guard let next = [waiting.earliest, free].compactMap(\.self).min(), next > context.now else { return }
        context.timers.set(.session(handle, .pump), at: next)
    }
}

/// When the next bytes may go, so that a limit in kilobits per second is kept on average.
struct BandwidthGate: Sendable {
    /// What was granted.
    private(set) var granted: GrantedBandwidth

    private var free = Duration.zero
    private let ceiling: Double?

    /// Grants as much as the server's own limits allow.
    init(requested: Double?, limits: ServerLimits) {
        ceiling = limits.bandwidth
        granted = limits.bandwidthUnmanaged ? .unmanaged : .unlimited
        request(requested)
    }

    /// The client asks for another limit, nil for none.
    mutating func request(_ requested: Double?) {
        guard granted != .unmanaged else { return }
        let bounds = [requested, ceiling].compactMap(\.self).filter { $0 > 0 }
        granted = bounds.min().map { .limited($0) } ?? .unlimited
        // What a lower limit has put off need not wait under a higher one.
        free = .zero
    }

    /// The instant before which nothing may go; nil if something may go now.
    func closedUntil(at now: Duration) -> Duration? {
        guard case .limited = granted, free > now else { return nil }
        return free
    }

    /// Bytes have gone.
    mutating func spent(_ bytes: Int, at now: Duration) {
        guard case .limited(let kilobits) = granted else { return }
        free = max(free, now) + .boundedSeconds(Double(bytes) * 8 / (kilobits * 1_000))
    }
}
