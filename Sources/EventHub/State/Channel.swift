/// One sequence of events and those who read it. A subscription has one; a client has three, so that streams which
/// want only some of its events do not have to pick.
///
/// `@unchecked`: used under the hub's lock only.
final class Channel: @unchecked Sendable {
    /// Names the channel within its hub.
    let id: Int
    /// The events.
    var log: TopicLog
    /// The readers of each shard, by the shard's index; nil where it has none.
    var interests: [Interest?] = []

    /// What one shard has to do with the channel.
    struct Interest {
        /// The shard's side.
        let local: ShardChannel
        /// How many of its streams read the channel.
        var readers = 0
        /// Whether the shard has not looked since the last event.
        var isDirty = false
    }

    /// A channel without events.
    init(id: Int, context: TopicContext, createdAt: UInt64) {
        self.id = id
        log = TopicLog(context: context, createdAt: createdAt)
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

    /// A stream of a shard reads no more.
    func removeReader(shard: Int, variant: EventVariant) {
        log.removeReader(variant)
        guard interests.indices.contains(shard), var interest = interests[shard] else { return }
        interest.readers -= 1
        interests[shard] = interest.readers > 0 || interest.isDirty ? interest : nil
    }
}
