internal import Changes
internal import SessionCore

extension HubState {
    // MARK: - Admission and end

    mutating func admit(
        _ request: StreamRequest,
        id: String?,
        isWaiting: Bool,
        now: Moment
    ) throws(HubError) -> String {
        for source in request.sources { try check(source) }
        var id = id ?? makeStreamID()
        if streams[id] != nil { id = makeStreamID() }
        let memory = owners.add(request.owner)
        var stream = StreamRecord(id: id, request: request, openedAt: now, memory: memory)
        stream.isWaiting = isWaiting
        streams[id] = stream
        for source in request.sources { index(id, under: source) }
        return id
    }

    private func check(_ source: StreamSource) throws(HubError) {
        let isKnown =
            switch source {
            case .subscription(let id): subscriptions[id] != nil
            case .client(let id, _): clients[id] != nil
            }
        guard isKnown else { throw .unknownSource(source) }
    }

    private mutating func index(_ stream: String, under source: StreamSource) {
        switch source {
        case .subscription(let id): subscriptions[id]?.streams.insert(stream)
        case .client(let id, _): clients[id]?.streams.insert(stream)
        }
    }

    private mutating func unindex(_ stream: String, under source: StreamSource) {
        switch source {
        case .subscription(let id): subscriptions[id]?.streams.remove(stream)
        case .client(let id, _): clients[id]?.streams.remove(stream)
        }
    }

    mutating func discard(_ id: String) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        owners.remove(stream.request.owner)
        for source in stream.request.sources { unindex(id, under: source) }
        guard let shard = stream.shard else { return }
        for read in stream.reads.values { read.channel.removeReader(shard: shard, variant: read.variant) }
    }

    // MARK: - Opening

    /// Sets the first sequence of a stream, unless the stream waits; nil if it was discarded.
    mutating func attach(_ id: String, to shard: Int, retryMilliseconds: Int) -> StreamRecord? {
        guard var stream = streams[id], stream.shard == nil else { return nil }
        if stream.isWaiting {
            (stream.shard, stream.retryMilliseconds) = (shard, retryMilliseconds)
            streams[id] = stream
            stream.changes = stream.closeReason.map { [.close(reason: $0, after: sequence)] } ?? []
            return stream
        }
        let wanted = channels(of: stream.request)
        let resumeFrom = resumePoint(of: stream.request, wanted)
        let start = resumeFrom.sequence == nil ? start(of: stream.request) : nil
        stream.shard = shard
        // The refusal may precede the stream that has caused the subscription.
        if stream.closeReason == nil, isRefused(stream.request) { stream.closeReason = Self.refused }
        stream.epoch = epoch
        stream.outcome = resumeFrom.outcome
        streams[id] = stream
        beginnings[resumeFrom.outcome, default: 0] &+= 1
        let announcement = ControlEvent.stream(
            id: id,
            sources: start?.states ?? states(of: stream.request),
            resume: resumeFrom.outcome,
            isDegraded: isDegraded,
            retryMilliseconds: retryMilliseconds
        )
        var changes = [StreamChange.announce(announcement, after: lastEventSequence)]
        if let sequence = resumeFrom.sequence {
            changes += departedChannels(of: stream.request, after: sequence)
            changes += wanted.compactMap { read($0.channel, in: id, after: sequence) }
        } else if let start {
            let present = Set(wanted.map(\.channel.id))
            for (channel, sequence) in start.channels {
                if present.contains(channel.id) {
                    changes += [read(channel, in: id, after: sequence)].compactMap(\.self)
                } else {
                    changes += lastEvents(of: channel, in: stream.request, after: sequence)
                }
            }
        } else {
            changes += joinFirst(wanted, in: id)
        }
        if let reason = stream.closeReason { changes.append(.close(reason: reason, after: sequence)) }
        streams[id]?.changes = []
        guard var attached = streams[id] else { return nil }
        attached.changes = changes
        return attached
    }

    /// Begins a stream that waits: its first sequence is the present one, or that from which it resumes.
    mutating func begin(_ id: String) {
        guard let stream = streams[id], stream.isWaiting else { return }
        streams[id]?.isWaiting = false
        guard let shard = stream.shard else { return }
        streams[id]?.shard = nil
        guard let begun = attach(id, to: shard, retryMilliseconds: stream.retryMilliseconds) else { return }
        send([.restart(epoch: epoch)] + begun.changes, to: id)
    }

    /// Whether the only source of a stream is a subscription that the stream has joined and that was refused.
    private func isRefused(_ request: StreamRequest) -> Bool {
        guard request.sources.count == 1, case .subscription(let id)? = request.sources.first,
            request.joined.contains(id), let record = subscriptions[id]
        else { return false }
        return !record.isActive && record.lastError != nil
    }

    /// The sequence from which a stream resumes, if it can.
    private func resumePoint(
        of request: StreamRequest,
        _ wanted: [WantedChannel]
    ) -> (outcome: ResumeOutcome, sequence: UInt64?) {
        guard let text = request.lastEventID, !text.isEmpty else {
            guard let since = request.since, !wanted.isEmpty else { return (.fresh, nil) }
            return resumePoint(since: since, wanted)
        }
        guard let id = EventID(text), !request.missesState else { return (.gap, nil) }
        let known = id.epoch == epoch && id.sequence <= sequence && !isInsideSnapshot(id.sequence)
        let reachable = wanted.allSatisfy { wanted in
            // A channel of a group may be newer than the last event: it is read from its start. A source that was
            // requested by its own name and is newer cannot be the one that the last event came from.
            (wanted.isInGroup || wanted.channel.log.createdAt <= id.sequence)
                && wanted.channel.log.position(after: id.sequence) != nil
        }
        return known && reachable ? (.resumed, id.sequence) : (.gap, nil)
    }

    /// The sequence of the last event before a time; a gap if events after that time are no longer kept.
    private func resumePoint(
        since: Moment,
        _ wanted: [WantedChannel]
    ) -> (outcome: ResumeOutcome, sequence: UInt64?) {
        var last: UInt64 = 0
        for channel in wanted.map(\.channel) {
            guard let sequence = channel.log.sequence(before: since) else { return (.gap, nil) }
            last = max(last, sequence)
        }
        return (.resumed, last)
    }

    private func isInsideSnapshot(_ sequence: UInt64) -> Bool {
        switch numbering {
        case .counted: snapshotRanges.cuts(sequence)
        case .given: EventNumber.isInsideSnapshot(sequence)
        }
    }

    /// The changes that make a stream read the channels of subscriptions that its clients have released, as far as
    /// these channels have events after a sequence.
    private func departedChannels(of request: StreamRequest, after sequence: UInt64) -> [StreamChange] {
        request.sources.flatMap { source -> [StreamChange] in
            guard case .client(let id, withSubscriptions: true) = source else { return [] }
            return (clients[id]?.departed ?? []).filter { request.admits($0.log.context.properties) }
                .flatMap { lastEvents(of: $0, in: request, after: sequence) }
        }
    }

    /// The changes that make a stream read the events that a channel has after a sequence, and no later ones.
    private func lastEvents(of channel: Channel, in request: StreamRequest, after sequence: UInt64) -> [StreamChange] {
        guard let last = channel.log.lastSequence, last > sequence,
            let position = channel.log.position(after: sequence)
        else { return [] }
        let view = channel.log.view
        let local = ShardChannel(id: channel.id, view: view)
        let variant = EventVariant(of: channel.log.context, in: request, request.types)
        return [.read(local, as: variant, from: position, upTo: view), .retire(local, upTo: view)]
    }

    // MARK: - Changes

    mutating func change(
        _ id: String,
        add: [StreamSource],
        remove: [StreamSource],
        _ types: FieldTypes
    ) throws(HubError) {
        guard let stream = streams[id], stream.closeReason == nil else { throw .unknownStream(id) }
        for source in add { try check(source) }
        var sources = stream.request.sources.filter { !remove.contains($0) }
        sources += add.filter { !sources.contains($0) }
        for source in stream.request.sources { unindex(id, under: source) }
        for source in sources { index(id, under: source) }
        streams[id]?.request.sources = sources
        // A subscription that the stream reads already keeps the form of its values.
        let fresh = types.filter { !stream.request.sources.contains(.subscription($0.key)) }
        for case .subscription(let gone) in remove where !sources.contains(.subscription(gone)) {
            streams[id]?.request.types[gone] = nil
        }
        streams[id]?.request.types.merge(fresh) { $1 }
        guard stream.shard != nil, let changed = streams[id]?.request else { return }
        if changed.types != stream.request.types { send([.types(changed.types)], to: id) }
        // Removed channels end before the announcement, added ones begin after it.
        let wanted = channels(of: changed)
        drop(in: id, except: wanted, unread: .drop)
        let announcement = ControlEvent.stream(
            id: id,
            sources: states(of: changed),
            resume: .resumed,
            isDegraded: isDegraded,
            retryMilliseconds: nil
        )
        send([.announce(announcement, after: lastEventSequence)], to: id)
        send(join(wanted.filter { streams[id]?.reads[$0.channel.id] == nil }, in: id), to: id)
    }

    mutating func close(_ id: String, reason: String) -> Bool {
        guard let stream = streams[id] else { return false }
        guard stream.closeReason == nil else { return true }
        streams[id]?.closeReason = reason
        send([.close(reason: reason, after: sequence)], to: id)
        return true
    }

    /// The treatment of unread events of a channel that a stream stops reading.
    enum UnreadEvents {
        /// The unread events are still delivered.
        case retire
        /// The unread events are dropped.
        case drop
    }

    /// Updates the channels that a stream reads after a change of its sources; new ones are read from now on.
    mutating func reconcile(_ id: String, unread: UnreadEvents) {
        guard let stream = streams[id], stream.shard != nil else { return }
        let wanted = channels(of: stream.request)
        drop(in: id, except: wanted, unread: unread)
        for wanted in wanted where streams[id]?.reads[wanted.channel.id] == nil {
            if let change = read(wanted.channel, in: id, after: nil) { send([change], to: id) }
        }
    }

    private mutating func drop(in id: String, except wanted: [WantedChannel], unread: UnreadEvents) {
        guard let stream = streams[id], let shard = stream.shard else { return }
        let keep = Set(wanted.map(\.channel.id))
        for (channelID, read) in stream.reads.sorted(by: { $0.key < $1.key }) where !keep.contains(channelID) {
            streams[id]?.reads[channelID] = nil
            read.channel.removeReader(shard: shard, variant: read.variant)
            switch unread {
            case .retire: send([.retire(read.local, upTo: read.channel.log.view)], to: id)
            case .drop: send([.drop(read.local)], to: id)
            }
        }
    }
}
