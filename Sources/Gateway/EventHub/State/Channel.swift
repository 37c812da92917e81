/// A sequence of events and its readers. A subscription has one; a client has three, so that a stream which carries
/// only some kinds of its events does not have to filter.
///
/// `@unchecked`: used under the hub's lock only.
final class Channel: @unchecked Sendable {
    /// The number of the channel within its hub.
    let id: Int
    /// The events.
    var log: TopicLog
    /// The shards' sides of the channel, by the shard's index; nil for shards without readers.
    var interests: [Interest?] = []

    /// One shard's side of the channel.
    struct Interest {
        /// The shard's side.
        let local: ShardChannel
        /// The number of its streams that read the channel.
        var readers = 0
        /// Whether there are events that the shard has not taken over.
        var isDirty = false
    }

    /// A channel without readers.
    init(id: Int, log: TopicLog) {
        self.id = id
        self.log = log
    }

    /// A stream of a shard starts to read.
    func addReader(shard: Int, variant: EventVariant) -> ShardChannel {
        log.addReader(variant)
        while interests.count <= shard { interests.append(nil) }
        var interest = interests[shard] ?? Interest(local: ShardChannel(id: id, view: log.view))
        interest.readers += 1
        interests[shard] = interest
        return interest.local
    }

    /// A stream of a shard stops reading.
    func removeReader(shard: Int, variant: EventVariant) {
        log.removeReader(variant)
        guard interests.indices.contains(shard), var interest = interests[shard] else { return }
        interest.readers -= 1
        interests[shard] = interest.readers > 0 || interest.isDirty ? interest : nil
    }
}
