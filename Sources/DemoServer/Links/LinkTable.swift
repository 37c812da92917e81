internal import Primitives
internal import TLCP

/// All open connections, and the pending actions of the listeners.
struct LinkTable: Sendable {
    private(set) var links: [LinkID: Link] = [:]
    /// Sessions whose stream connection was cut by a fault, until they have handled the cut.
    private(set) var lostStreams: [(link: LinkID, session: SessionHandle)] = []
    private var dirty: [LinkID] = []
    private var actions: [ServerAction] = []
    private var cutter: SplitMix64

    /// An empty table. `seed`: of the positions at which the fault `split` cuts.
    init(seed: UInt64) { cutter = SplitMix64(seed: seed, part: "split") }

    /// A connection; nil once the connection has ended. Changes of an absent connection are ignored.
    subscript(id: LinkID) -> Link? {
        get { links[id] }
        _modify { yield &links[id] }
    }

    mutating func add(_ link: Link, as id: LinkID) { links[id] = link }

    mutating func remove(_ id: LinkID) -> Link? { links.removeValue(forKey: id) }

    /// Writes a line, complete with CR-LF, at the end of the present event.
    mutating func write(_ line: [UInt8], on id: LinkID) {
        switch links[id]?.append(line) {
        case .pending: markDirty(id)
        case .cut(let length): cut(id, after: line.prefix(length ?? line.count / 2))
        case .dropped, nil: break
        }
    }

    mutating func write(_ notification: ServerNotification, on id: LinkID) {
        write(notification.encoded, on: id)
    }

    /// Writes texts as lines, valid or not.
    mutating func inject(_ lines: [String], on id: LinkID) {
        for line in lines { write(Array(line.utf8) + [0x0D, 0x0A], on: id) }
    }

    /// Turns an HTTP exchange into a stream.
    mutating func openStream(_ id: LinkID) {
        guard links[id]?.kind == .exchange else { return }
        links[id]?.kind = .stream
        if links[id]?.faults.isHeld != true { actions.append(.openStream(id)) }
    }

    /// Ends the connection after the pending lines; an HTTP response becomes complete.
    mutating func end(_ id: LinkID, _ ending: LinkEnding) {
        guard links[id]?.ending == nil else { return }
        links[id]?.ending = ending
        markDirty(id)
    }

    /// Breaks the connection after the pending lines, without closing the protocol. `start`: the beginning of a line that is
    /// written before, over a WebSocket as an incomplete message; nil if no line is cut.
    mutating func cut(_ id: LinkID, after start: ArraySlice<UInt8>? = nil) {
        flush(id, at: .zero, isForced: true)
        guard let link = links.removeValue(forKey: id) else { return }
        if let start {
            // Nothing has been written yet of a response that is sent as a whole.
            if link.isWhole { actions.append(.openStream(id)) }
            let bytes = (link.isWhole ? link.pending : []) + start
            if !bytes.isEmpty { actions.append(.write(id, bytes, isFragment: true)) }
        }
        actions.append(.cut(id))
        if let session = link.stream { lostStreams.append((id, session)) }
    }

    /// Removes and returns the elements of `lostStreams`.
    mutating func takeLostStreams() -> [(link: LinkID, session: SessionHandle)] {
        defer { lostStreams.removeAll() }
        return lostStreams
    }

    /// Sends a whole response to an HTTP request.
    mutating func respond(_ id: LinkID, _ answer: HTTPAnswer) {
        guard let link = links.removeValue(forKey: id) else { return }
        actions.append(.respond(id, answer))
        if let session = link.stream { lostStreams.append((id, session)) }
    }

    /// Adds an action of the listeners.
    mutating func perform(_ action: ServerAction) { actions.append(action) }

    /// Flushes the connection at the end of the present event.
    mutating func markDirty(_ id: LinkID) { if dirty.last != id { dirty.append(id) } }

    /// Removes and returns the actions of the listeners, in order.
    mutating func takeActions(at now: Duration) -> [ServerAction] {
        let due = dirty
        dirty.removeAll(keepingCapacity: true)
        for id in due { flush(id, at: now, isForced: false) }
        defer { actions.removeAll() }
        return actions
    }

    private mutating func flush(_ id: LinkID, at now: Duration, isForced: Bool) {
        guard let link = links[id] else { return }
        if !isForced, let until = link.faults.stalledUntil, until > now { return }
        if link.faults.isHalfOpen || (link.faults.mutedUntil.map { $0 > now } ?? false) {
            takePending(id)
            if link.ending == nil { return }
            if link.faults.isHalfOpen || link.isWhole {
                links[id] = nil
                actions.append(.cut(id))
                return
            }
        }
        if link.isWhole {
            guard let ending = link.ending else { return }
            var closes = false
            if case .complete(let closesSocket) = ending { closes = closesSocket }
            actions.append(.respond(id, HTTPAnswer(body: takePending(id), closesSocket: closes)))
            links[id] = nil
            return
        }
        emit(takePending(id), link.lineEnds, on: id, link.faults)
        guard let ending = link.ending else { return }
        switch ending {
        case .close(let code): actions.append(.close(id, code: code))
        case .complete(let closesSocket): actions.append(.endStream(id, closesSocket: closesSocket))
        }
        links[id] = nil
    }

    @discardableResult
    private mutating func takePending(_ id: LinkID) -> [UInt8] {
        links[id]?.lineEnds.removeAll(keepingCapacity: true)
        let bytes = links[id]?.pending ?? []
        links[id]?.pending = []
        return bytes
    }

    private mutating func emit(_ bytes: [UInt8], _ lineEnds: [Int], on id: LinkID, _ faults: LinkFaults) {
        guard !bytes.isEmpty else { return }
        guard faults.isOneLinePerWrite else { return emitPieces(bytes[...], on: id, faults) }
        var start = 0
        for end in lineEnds + [bytes.count] where end > start && end <= bytes.count {
            emitPieces(bytes[start..<end], on: id, faults)
            start = end
        }
    }

    private mutating func emitPieces(_ bytes: ArraySlice<UInt8>, on id: LinkID, _ faults: LinkFaults) {
        var rest = bytes
        while let length = faults.pieceLength, rest.count > 1 {
            let cutAt = Int.random(in: 1...max(1, min(length, rest.count - 1)), using: &cutter)
            actions.append(.write(id, Array(rest.prefix(cutAt)), isFragment: true))
            rest = rest.dropFirst(cutAt)
        }
        actions.append(.write(id, Array(rest), isFragment: false))
    }

    // MARK: - Faults

    /// Applies an effect to a connection; effects on requests and sessions are ignored.
    mutating func apply(
        _ id: LinkID,
        _ effect: FaultEffect,
        at now: Duration,
        _ timers: inout DeadlineQueue<TimerKey>
    ) {
        self[id]?.faults.apply(effect, at: now)
        switch effect {
        case .stall(let time), .delay(let time): timers.set(.stall(id), at: now + time)
        case .halfOpen:
            guard self[id] != nil else { return }
            perform(.stopReading(id))
            timers.set(.stuck(id), at: now + FaultEffect.longestHalfOpen)
        case .holdStream:
            if self[id]?.kind == .exchange { self[id]?.faults.isHeld = true }
        case .drop: cut(id)
        default: break
        }
    }
}
