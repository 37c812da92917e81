internal import Changes
internal import Primitives
internal import StreamIO
internal import Synchronization

/// The present state of a subscription at one place in the order of events, for streams that join.
///
/// Streams that join shortly after each other receive the same snapshot, followed by the events that the log has after it.
/// The events of the snapshot are encoded once, in blocks, for all these streams:
///
///     snapshot   │ block 0   │ block 1   │ … │   sequences 1001 … 41000
///     log                                        41001   41002   41003
///                                                                ▲ a stream that joins now
final class Snapshot: Sendable {
    /// The number of events above which a snapshot is kept for streams that join later.
    static let leastKept = 256

    let channel: Int
    let context: TopicContext
    /// The events: updates and ends of snapshots, preceded by `subscribed` if the stream has not received it.
    let content: SnapshotContent
    let sequences: SnapshotSequences

    private let memory: StreamMemory
    private let sharing = Atomic<Bool>(false)
    private let kept = RankedMutex<[BlockKey: SnapshotBlock]>([:], rank: .leaf)

    private struct BlockKey: Hashable {
        let number: Int
        let variant: Int
    }

    init(
        channel: Int,
        context: TopicContext,
        content: SnapshotContent,
        sequences: SnapshotSequences,
        memory: StreamMemory
    ) {
        self.channel = channel
        self.context = context
        self.content = content
        self.sequences = sequences
        self.memory = memory
    }

    deinit { memory.addLog(-kept.withLock { $0.values.reduce(0) { $0 + $1.size } }) }

    /// Whether more than one stream has received it.
    var isShared: Bool { sharing.load(ordering: .relaxed) }

    /// A further stream receives it: its blocks are kept from now on.
    func share() { sharing.store(true, ordering: .relaxed) }

    /// The blocks from a number on that are kept in a variant with these types of fields: one, if there is one, and more up to
    /// this number of bytes.
    func blocks(from number: Int, as variant: EventVariant, _ types: [FieldType]?, upTo bytes: Int) -> [SnapshotBlock] {
        kept.withLock { blocks in
            var (found, size): ([SnapshotBlock], Int) = ([], 0)
            while found.isEmpty || size < bytes,
                let block = blocks[BlockKey(number: number + found.count, variant: variant.index)], block.types == types
            {
                found.append(block)
                size += block.size
            }
            return found
        }
    }

    /// Keeps a block, as long as the budget has room for it.
    func keep(_ block: SnapshotBlock, _ number: Int, as variant: EventVariant) {
        guard memory.used < memory.goal - block.size else { return }
        kept.withLock { blocks in
            let former = blocks.updateValue(block, forKey: BlockKey(number: number, variant: variant.index))
            memory.addLog(block.size - (former?.size ?? 0))
        }
    }
}

/// Consecutive events of a snapshot, encoded for all its readers.
final class SnapshotBlock: Sendable {
    /// The number of events of a block, except the last one.
    static let length = 64
    /// The bytes of consecutive blocks that are written at a time.
    static let usualBytes = 64 << 10

    let count: Int
    /// The events of the snapshot after the block.
    let rest: SnapshotContent
    /// The types of fields with which its events are encoded.
    let types: [FieldType]?
    private let bytes: SharedBytes

    /// A block with the encoded events in an HTTP chunk, which it has as a whole.
    init(_ events: [UInt8], count: Int, rest: SnapshotContent, types: [FieldType]?) {
        self.count = count
        self.rest = rest
        self.types = types
        bytes = SharedBytes(ChunkFraming.chunk(of: events))
    }

    /// The approximate size in bytes.
    var size: Int { bytes.count + MemoryLayout<SnapshotContent>.size }

    func append(to batch: inout StreamBatch, chunked: Bool) {
        batch.append(chunked ? bytes.bytes : ChunkFraming.payload(of: bytes.bytes), owner: bytes)
    }
}

/// The sequences of a snapshot's events.
struct SnapshotSequences: Sendable {
    let first: UInt64
    let last: UInt64
    /// Whether the numbers rise one by one: a stream that does not receive an event lacks the number of the event, except
    /// that the last event of each stream has the last number. Else all but the last event have the first number.
    let areRising: Bool

    /// The sequence of an event, which is not the last one, by its index.
    func sequence(at index: Int) -> UInt64 { areRising ? first + UInt64(index) : first }
}
