internal import Primitives
internal import StreamIO

/// The compressed streams of a shard that read the same channels in the same variants and have read everything. New events
/// are compressed once for all of them. Used by the thread that uses the shard.
///
/// The group has one compressor. Its blocks refer to earlier events of the group, which all *synchronized* streams have.
/// A stream that joins lacks this history: it gets blocks without references, equal for all such streams, until the
/// compressor forgets its history. A reset costs nothing on the wire, but the next events compress less.
///
///     events            1     2     3  reset  4     5
///     synchronized      b1    b2    b3   ·    b4    b5
///     joined after 1          i2    i3   ·    b4    b5        i: without references
final class CompressedGroup {
    struct Key: Hashable {
        /// The channels in the order of their ids. A channel that a shard reads again after a pause is another one, with the same
        /// id; a group keeps its channels.
        let channels: [ObjectIdentifier]
        let variants: [EventVariant]
    }

    /// The least readers for which a compressor is kept.
    private static let leastReaders = 4
    /// The history after which the compressor forgets it, as soon as a stream waits for that.
    private static let mostHistory = 64 << 10
    /// The part of the readers that waits for a reset without further history.
    private static let mostWaiting = 4

    /// The channels of one subscription: its own and that of the client that carries it. Events of more channels are
    /// stored and not compressed: their sizes would tell of each other (decision record *CompressionAndSecrets*).
    static let mostChannels = 2

    /// The number of the group, unique on its shard.
    let number: UInt64
    let key: Key
    let channels: [ShardChannel]
    let totals = BroadcastCounters()
    /// The pass in which the group got its last broadcast.
    var pass: UInt64 = 0
    private(set) var sum = Checksum()
    private(set) var broadcasts: UInt64 = 0
    private var synchronized = ReaderList<Subscriber>()
    private var waiting = ReaderList<Subscriber>()
    private var compressor: Deflater?
    private let context: ShardContext

    init(number: UInt64, key: Key, channels: [ShardChannel], context: ShardContext) {
        self.number = number
        self.key = key
        self.channels = channels
        self.context = context
    }

    deinit { dropCompressor() }

    var isEmpty: Bool { synchronized.isEmpty && waiting.isEmpty }

    // MARK: - Readers

    /// Adds a stream; a synchronized one has received all blocks of the group so far, and nothing else since.
    func add(_ subscriber: Subscriber, isSynchronized: Bool) {
        if isSynchronized { synchronized.add(subscriber) } else { waiting.add(subscriber) }
    }

    /// Removes a stream; returns whether it was synchronized.
    func remove(_ subscriber: Subscriber) -> Bool {
        let wasSynchronized = synchronized.remove(subscriber)
        if !wasSynchronized { waiting.remove(subscriber) }
        // At once, since a group without events keeps a compressor from others.
        if readers < Self.leastReaders { dropCompressor() }
        return wasSynchronized
    }

    /// A stream receives bytes for itself alone: it has to wait for the next reset.
    func separate(_ subscriber: Subscriber) { if synchronized.remove(subscriber) { waiting.add(subscriber) } }

    var subscribers: [Subscriber] { synchronized.all + waiting.all }

    private var readers: Int { synchronized.streams.count + waiting.streams.count }

    // MARK: - Broadcasts

    /// Compresses the new events of the channels. Nil if there are none. Refused if they are too large, or not encoded in
    /// this variant: then the streams read them by themselves.
    func broadcast() -> Broadcasts? {
        let places = channels.indices.filter { !channels[$0].isLiveGroupAtEnd }
        guard !places.isEmpty else { return nil }
        let fresh = places.map { channels[$0] }
        var result = Broadcasts()
        guard let (payload, published) = Broadcast.payload(of: fresh, as: places.map { key.variants[$0] }) else {
            return result
        }
        result.isRefused = false
        result.published = published
        result.events = fresh.reduce(0) { $0 + $1.unsentCount }
        result.readers = readers
        payload.withUnsafeBytes { bytes in
            sum.add(bytes)
            guard channels.count <= Self.mostChannels else {
                return result.add(GzipFraming.stored(bytes), to: synchronized.streams + waiting.streams)
            }
            adapt()
            if !synchronized.isEmpty, let compressor {
                result.add(compressor.compress(bytes), to: synchronized.streams)
            }
            if !waiting.isEmpty { result.add(context.independent(bytes), to: waiting.streams) }
        }
        broadcasts &+= 1
        totals.events.add(result.events)
        return result
    }

    /// The bytes that a pass sends to the streams of a group.
    struct Broadcasts {
        private(set) var writes: [SharedWrite] = []
        /// Whether nothing is sent.
        var isRefused = true
        var events = 0
        var readers = 0
        var published = Moment.zero

        fileprivate mutating func add(_ block: [UInt8], to streams: [StreamID]) {
            let bytes = PrivateBytes(capacity: block.count + ChunkFraming.overhead)
            _ = bytes.append(block, chunked: true)
            writes.append(SharedWrite(streams: streams, pieces: [StreamPiece(owner: bytes, bytes: bytes.all)]))
        }
    }

    /// Makes a compressor if there are enough readers, and has it forget its history if enough streams wait for that. Without a
    /// compressor, all streams wait.
    private func adapt() {
        guard readers >= Self.leastReaders, let compressor = compressor ?? makeCompressor() else {
            return synchronized.move(to: &waiting)
        }
        guard !waiting.isEmpty else { return }
        if waiting.streams.count * Self.mostWaiting >= readers || compressor.history >= Self.mostHistory {
            compressor.reset()
            waiting.move(to: &synchronized)
        }
    }

    private func makeCompressor() -> Deflater? {
        guard context.memory.addCompressor(Deflater.memory) else { return nil }
        compressor = Deflater(.usual)
        return compressor
    }

    private func dropCompressor() {
        guard compressor != nil else { return }
        compressor = nil
        context.memory.removeCompressor(Deflater.memory)
    }
}
