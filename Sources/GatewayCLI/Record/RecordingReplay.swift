internal import DemoServer
internal import Recording
internal import TLCP

/// A recording as the events of a demo server.
struct RecordingReplay: ReplaySource {
    /// The items and fields of a Data Adapter, in all segments.
    fileprivate struct Adapter {
        var items: [String] = []
        var modes: [UpstreamName: SubscriptionMode] = [:]
        var fields: [String] = []
        /// The places of the fields in a row.
        var columns: [UpstreamName: Int] = [:]
    }

    /// The columns of fields, by Data Adapter.
    private let columns: [String: [UpstreamName: Int]]
    private let failed: @Sendable (RecordingError) -> Void
    /// Nil after a mistake in the file.
    private var reader: RecordingReader?
    private var segment: RecordedSegment?
    /// The events of the segment that were read and not replayed yet.
    private var events: ArraySlice<RecordedEvent> = []
    /// The time of the replay at which the segment begins: the pauses between segments are left out.
    private var base = Duration.zero
    private var last = Duration.zero

    /// Sets up a server so that it replays a file.
    ///
    /// Throws `RecordingFileError` for a file that cannot be read, `RecordingError` for a file that is not a recording, is
    /// empty or has a damaged frame. `warn` receives what is wrong with the end of the file; `failed` is called during the
    /// replay with the reason why it ends too early.
    static func prepare(
        _ path: String,
        _ configuration: inout DemoServerConfiguration,
        warn: (String) -> Void,
        failed: @escaping @Sendable (RecordingError) -> Void
    ) throws -> RecordingReplay {
        let file = try RecordingFile(path: path)
        var reader = file.reader
        let segments = try reader.segments()
        if let position = reader.interruption {
            warn("byte \(position): the file ends within a block: the recording was interrupted there")
        }
        guard !segments.isEmpty else {
            throw RecordingError(position: 0, rule: "the file has no segment: there is nothing to play")
        }
        var adapters: [String: Adapter] = [:]
        for segment in segments {
            adapters[name(of: segment), default: Adapter()].add(segment)
            configuration.adapterSets.insert(segment.adapterSet ?? "DEFAULT")
        }
        guard adapters.values.reduce(0, { $0 + $1.items.count * $1.fields.count }) <= RecordedSegment.mostValues else {
            throw RecordingError(position: 0, rule: "all segments together have too many items and fields")
        }
        for (name, adapter) in adapters {
            configuration.manualFeeds[name] = ManualFeedConfiguration(items: adapter.items, fields: adapter.fields)
            configuration.manualFeeds[name]?.modes = adapter.modes
        }
        return RecordingReplay(columns: adapters.mapValues(\.columns), failed: failed, reader: file.reader)
    }

    /// One event at a time: its row has the columns of all segments, or it clears all items.
    mutating func next() -> [ReplayedEvent]? {
        if let segment, let event = events.popFirst() { return replayed(event, of: segment) }
        do throws(RecordingError) {
            switch try reader?.next() {
            case nil: return nil
            case .segment(let segment):
                self.segment = segment
                base = last
                return cleared(segment)
            case .events(let events):
                self.events = events[...]
                return []
            }
        } catch {
            reader = nil
            failed(error)
            return nil
        }
    }

    private mutating func replayed(_ event: RecordedEvent, of segment: RecordedSegment) -> [ReplayedEvent] {
        last = base + .milliseconds(event.time)
        let item = segment.items[event.item]
        switch event.content {
        case .row(let values, let isSnapshot):
            return [made(.publish(item: item, values: row(values, of: segment)), of: segment, isSnapshot: isSnapshot)]
        case .cleared: return [made(.clear(item: item), of: segment)]
        case .lost(let count): return [made(.lose(item: item, count: count), of: segment)]
        case .endOfSnapshot: return []
        case .restarted: return cleared(segment)
        }
    }

    /// The rows and keys of items in the modes DISTINCT and COMMAND are not in force any more: new snapshots follow.
    private func cleared(_ segment: RecordedSegment) -> [ReplayedEvent] {
        guard ["DISTINCT", "COMMAND"].contains(segment.mode) else { return [] }
        return segment.items.map { made(.clear(item: $0), of: segment, isSnapshot: true) }
    }

    private func made(_ request: FeedRequest, of segment: RecordedSegment, isSnapshot: Bool = false) -> ReplayedEvent {
        ReplayedEvent(time: last, adapter: Self.name(of: segment), request: request, isSnapshot: isSnapshot)
    }

    /// The values at the columns of the Data Adapter.
    private func row(_ values: [String?], of segment: RecordedSegment) -> [String?] {
        let columns = columns[Self.name(of: segment)] ?? [:]
        var row = [String?](repeating: nil, count: columns.count)
        for (field, value) in zip(segment.fields, values) {
            if let column = columns[UpstreamName(field)] { row[column] = value }
        }
        return row
    }

    private static func name(of segment: RecordedSegment) -> String { segment.dataAdapter ?? "DEFAULT" }
}

extension RecordingReplay.Adapter {
    /// Adds the items and fields of a segment; an item keeps its first mode.
    fileprivate mutating func add(_ segment: RecordedSegment) {
        for item in segment.items where modes[UpstreamName(item)] == nil {
            modes[UpstreamName(item)] = SubscriptionMode(rawValue: segment.mode) ?? .merge
            items.append(item)
        }
        for field in segment.fields where columns[UpstreamName(field)] == nil {
            columns[UpstreamName(field)] = fields.count
            fields.append(field)
        }
    }
}
