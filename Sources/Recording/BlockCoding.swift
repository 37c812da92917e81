internal import JSONText

/// The columns of a block. Equal things stand together, so that they compress well:
///
///     number of events │ length of each column │ times │ items │ shapes │ details │ values of field 1 │ of field 2 │ …
///
///     times    milliseconds since the event before it, in the block or in the segment
///     items    the index of the item
///     shapes   the number of the event's shape; one beyond the known ones announces a new shape
///     details  new shapes; the number of lost updates
///     values   of the fields that differ from the item's row before it, as `ValueCoder` writes them
///
/// All entries except the shapes and values are numbers as `ByteReader.number` reads them.
enum BlockColumn {
    static let times = 0
    static let items = 1
    static let shapes = 2
    static let details = 3
    static let values = 4

    /// The greatest number of lost updates of an event.
    static let mostLost = Int(Int32.max)
}

/// The facts about the events of a segment that an encoder and the decoder of its blocks remember.
private struct BlockMemory {
    var rows: [[String?]]
    var coders: [ValueCoder]
    var shapes = ShapeTable()
    var time: Int64 = 0

    init(_ segment: RecordedSegment) {
        let row = [String?](repeating: nil, count: segment.fields.count)
        rows = Array(repeating: row, count: segment.items.count)
        coders = Array(repeating: ValueCoder(), count: segment.fields.count)
    }
}

/// Writes the events of a segment into columns.
struct BlockEncoder {
    private var memory: BlockMemory
    private var columns: [[UInt8]]
    private let fieldCount: Int

    /// The number of pending events.
    private(set) var count = 0
    /// The approximate size of the pending columns in bytes.
    private(set) var size = 0

    init(_ segment: RecordedSegment) {
        memory = BlockMemory(segment)
        fieldCount = segment.fields.count
        columns = Array(repeating: [], count: BlockColumn.values + fieldCount)
    }

    /// Adds an event. The time of an event before the preceding one is raised to that.
    mutating func append(_ event: RecordedEvent) {
        precondition(memory.rows.indices.contains(event.item), "the segment has the item")
        let time = max(event.time, memory.time)
        columns[BlockColumn.times].append(number: UInt64(time - memory.time))
        memory.time = time
        columns[BlockColumn.items].append(number: event.item)
        switch event.content {
        case .row(let values, let isSnapshot): append(values, of: event.item, isSnapshot ? .snapshotRow : .row)
        case .endOfSnapshot: append(EventShape(kind: .endOfSnapshot))
        case .cleared: append(EventShape(kind: .cleared))
        case .restarted: append(EventShape(kind: .restarted))
        case .lost(let updates):
            append(EventShape(kind: .lost))
            columns[BlockColumn.details].append(number: min(max(0, updates), BlockColumn.mostLost))
        }
        count += 1
        size += 4
    }

    private mutating func append(_ shape: EventShape) {
        if let number = memory.shapes.number(of: shape) { return columns[BlockColumn.shapes].append(number: number) }
        columns[BlockColumn.shapes].append(number: memory.shapes.count)
        shape.write(to: &columns[BlockColumn.details])
        memory.shapes.add(shape)
    }

    private mutating func append(_ values: [String?], of item: Int, _ kind: EventShape.Kind) {
        precondition(values.count == fieldCount, "a row has a value for each field")
        var mask = [UInt8](repeating: 0, count: EventShape.maskLength(fieldCount))
        for (field, value) in values.enumerated() {
            let previous = memory.rows[item][field]
            if value.hasSameBytes(as: previous) { continue }
            mask[field / 8] |= 1 << (field % 8)
            let length = columns[BlockColumn.values + field].count
            memory.coders[field].write(value, after: previous, to: &columns[BlockColumn.values + field])
            size += columns[BlockColumn.values + field].count - length
            memory.rows[item][field] = value
        }
        append(EventShape(kind: kind, mask: mask))
    }

    /// Removes and returns the pending events: the head of the block, then its columns.
    mutating func takeBlock() -> [[UInt8]] {
        var head: [UInt8] = []
        head.append(number: count)
        for column in columns { head.append(number: column.count) }
        defer {
            for index in columns.indices { columns[index].removeAll(keepingCapacity: true) }
            count = 0
            size = 0
        }
        return [head] + columns
    }
}

/// Reads the events of a segment from its blocks, in order.
struct BlockDecoder: Sendable {
    /// The most values of the rows that are returned together. The rows of a small block can take gigabytes.
    private static let mostValues = 1 << 16

    private var memory: BlockMemory
    private let segment: RecordedSegment
    /// The columns of the present block, behind the events that were returned.
    private var columns: [ByteReader] = []
    /// The number of events of the present block that were not returned yet.
    private var rest = 0

    init(_ segment: RecordedSegment) {
        self.segment = segment
        memory = BlockMemory(segment)
    }

    /// Begins a block.
    mutating func begin(_ block: ArraySlice<UInt8>) throws(ContentViolation) {
        var head = ByteReader(block)
        // Each event has an entry in three columns.
        let count = try head.number(upTo: block.count / 3, "the number of events")
        var lengths: [Int] = []
        for _ in 0..<BlockColumn.values + segment.fields.count {
            lengths.append(try head.number(upTo: block.count, "the length of a column"))
        }
        columns = []
        for length in lengths { columns.append(ByteReader(try head.bytes(length))) }
        guard head.isAtEnd else { throw ContentViolation("a column is too long") }
        rest = count
        try checkEnd()
    }

    /// The next events of the block; nil at its end.
    mutating func next() throws(ContentViolation) -> [RecordedEvent]? {
        if rest == 0 { return nil }
        let count = min(rest, max(1, Self.mostValues / segment.fields.count))
        rest -= count
        var events: [RecordedEvent] = []
        events.reserveCapacity(count)
        for _ in 0..<count { events.append(try event()) }
        try checkEnd()
        return events
    }

    private func checkEnd() throws(ContentViolation) {
        guard rest > 0 || columns.allSatisfy(\.isAtEnd) else { throw ContentViolation("a column is too long") }
    }

    private mutating func event() throws(ContentViolation) -> RecordedEvent {
        let pause = try columns[BlockColumn.times].number(upTo: Int(Int32.max) * 1_000, "a pause in milliseconds")
        let (time, isTooLarge) = memory.time.addingReportingOverflow(Int64(pause))
        if isTooLarge { throw ContentViolation("a time exceeds 64 bits") }
        memory.time = time
        let item = try columns[BlockColumn.items].number(upTo: segment.items.count - 1, "the number of an item")
        let number = try columns[BlockColumn.shapes].number(upTo: memory.shapes.count, "the number of a shape")
        let shape: EventShape
        if let known = memory.shapes.shape(number) {
            shape = known
        } else {
            shape = try EventShape(from: &columns[BlockColumn.details], fieldCount: segment.fields.count)
            memory.shapes.add(shape)
        }
        switch shape.kind {
        case .row, .snapshotRow:
            let values = try row(of: item, shape)
            return RecordedEvent(time: time, item: item, .row(values, isSnapshot: shape.kind == .snapshotRow))
        case .endOfSnapshot: return RecordedEvent(time: time, item: item, .endOfSnapshot)
        case .cleared: return RecordedEvent(time: time, item: item, .cleared)
        case .restarted: return RecordedEvent(time: time, item: item, .restarted)
        case .lost:
            let count = try columns[BlockColumn.details].number(upTo: BlockColumn.mostLost, "a number of lost updates")
            return RecordedEvent(time: time, item: item, .lost(count))
        }
    }

    private mutating func row(of item: Int, _ shape: EventShape) throws(ContentViolation) -> [String?] {
        for field in segment.fields.indices where shape.has(field) {
            memory.rows[item][field] = try memory.coders[field].read(
                after: memory.rows[item][field],
                from: &columns[BlockColumn.values + field]
            )
        }
        return memory.rows[item]
    }
}
