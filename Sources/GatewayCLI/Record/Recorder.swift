internal import FoundationEssentials
internal import JSONText
internal import Primitives
internal import Recording

/// Appends the events of a subscription to a file: a display of `watch` that shows nothing but changes of the status.
final class Recorder: WatchDisplay {
    /// The time for which events are collected before they are written.
    private static let pause = Duration.milliseconds(500)

    /// The present time in milliseconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    private struct State {
        var encoder: RecordingEncoder
        var rows: RecordedRows
        var updates = 0
        /// Whether the server has confirmed the subscription once.
        var hasSubscribed = false
        /// Whether events are lost because the disk is too slow.
        var isOverrun = false
    }

    private let start = ContinuousClock.now
    private let state: RankedMutex<State>
    private let file: RankedMutex<RecordingWriter>
    /// Why `run` could not write.
    private let failure = RankedMutex<(any Error)?>(nil)
    private let sizeBefore: Int
    private let pending = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// The bytes of an interrupted block that were removed from the file.
    let removed: Int

    /// Opens or creates the file. Throws `RecordingError` and `RecordingFileError`.
    init(path: String, segment: RecordedSegment) throws {
        let writer = try RecordingWriter(path: path, segment: segment)
        sizeBefore = writer.size
        removed = writer.removed
        file = RankedMutex(writer)
        state = RankedMutex(State(encoder: RecordingEncoder(segment), rows: RecordedRows(segment)))
    }

    /// Whether the source has been subscribed once.
    var hasSubscribed: Bool { state.withLock { $0.hasSubscribed } }

    func show(_ event: WatchEvent) -> Bool {
        if case .status(let status, let failure) = event {
            StandardError.write(LineDisplay.line(status, failure) + "\n")
        }
        let time = Int64((ContinuousClock.now - start) / .milliseconds(1))
        state.withLock { state in
            state.hasSubscribed = state.hasSubscribed || event.isOfSubscribedSource
            guard let (item, content) = state.rows.content(of: event) else { return }
            guard !state.encoder.isFull else { return state.isOverrun = true }
            state.encoder.append(RecordedEvent(time: time, item: item, content))
            if case .update = event { state.updates += 1 }
        }
        pending.continuation.yield()
        return true
    }

    /// Writes what has arrived, as long as that is possible and the task is not cancelled.
    func run() async {
        for await _ in pending.stream {
            do {
                try await Task.sleep(for: Self.pause)
                try write()
            } catch {
                failure.withLock { $0 = error is CancellationError ? nil : error }
                return
            }
        }
    }

    /// Writes the rest. Returns a line about the recording; throws what `run` could not write.
    func finish() throws -> String {
        if let failure = failure.withLock({ $0 }) { throw failure }
        try write()
        let updates = state.withLock { $0.updates }
        let bytes = file.withLock { $0.size } - sizeBefore
        let each =
            updates == 0
            ? "" : ", \((Double(bytes) / Double(updates) * 10).rounded() / 10) bytes each"
        return "recorded: \(updates) updates, \(bytes) bytes\(each)"
    }

    /// Writes what has arrived. One call at a time: `run` has ended before `finish`.
    private func write() throws {
        let (block, isOverrun) = state.withLock { ($0.encoder.takeBlock(), $0.isOverrun) }
        if let block { try file.withLock { try $0.append(block) } }
        if isOverrun { throw WatchFailure("The recording ended: updates arrive faster than they can be written.") }
    }
}

/// The rows of a subscription, which `watch` shows as changes.
struct RecordedRows {
    private struct Key: Hashable {
        let item: Int
        let key: ExactText
    }

    private let items: [ExactText: Int]
    /// The places of each field in a row: a field may be recorded more than once.
    private let places: [ExactText: [Int]]
    private let fieldCount: Int
    private let isCommand: Bool
    private var rows: [Key: [String?]] = [:]
    private var isFresh = true

    init(_ segment: RecordedSegment) {
        items = Dictionary(
            segment.items.enumerated().map { (ExactText($1), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        places = Dictionary(grouping: segment.fields.indices) { ExactText(segment.fields[$0]) }
        fieldCount = segment.fields.count
        isCommand = segment.mode == "COMMAND"
    }

    /// The item and the content of an event in the file; nil for an event that is not recorded.
    mutating func content(of event: WatchEvent) -> (item: Int, content: RecordedEvent.Content)? {
        switch event {
        case .status: return nil
        case .update(let update):
            guard let item = items[ExactText(update.item)] else { return nil }
            isFresh = false
            return (item, .row(row(of: update, item), isSnapshot: update.isSnapshot))
        case .other(let name, let text):
            let content = try? JSONValue(parsing: text)
            if name == "subscribed" || (name == "stream" && content?["resume"]?.string != "resumed") {
                rows.removeAll()
                return isFresh ? nil : (0, .restarted)
            }
            guard let item = content?["item"]?.string.flatMap({ items[ExactText($0)] }) else { return nil }
            switch name {
            case "end-of-snapshot": return (item, .endOfSnapshot)
            case "clear-snapshot":
                // In DISTINCT mode, the next event may still omit what it has in common with the last one.
                if isCommand { rows = rows.filter { $0.key.item != item } }
                return (item, .cleared)
            case "lost-updates": return (item, .lost(content?["count"]?.number?.intValue ?? 1))
            default: return nil
            }
        }
    }

    private mutating func row(of update: WatchUpdate, _ item: Int) -> [String?] {
        let key = Key(item: item, key: ExactText(update.key ?? ""))
        var row = rows[key] ?? Array(repeating: nil, count: fieldCount)
        func set(_ field: String, _ value: String?) {
            for place in places[ExactText(field), default: []] { row[place] = value }
        }
        for field in update.fields { set(field.name, field.value) }
        if isCommand {
            set("key", update.key)
            set("command", update.command)
        }
        rows[key] = update.command == "DELETE" ? nil : row
        return row
    }
}
