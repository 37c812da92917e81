internal import Changes
internal import EventHub
internal import Primitives
internal import Replication

/// When streams have last read clients and subscriptions. A resource has one owner, and its streams may be open on any member: the
/// owner asks the others before it ends a resource that nothing seems to use.
extension ClusterNode {
    /// The most topics of a call: NATS limits a message to 1 MiB.
    private static let mostTopics = 1000

    func lastReads(of topics: [TopicID], _ done: @escaping @Sendable ([TopicID: Moment]) -> Void) {
        addJob { [self] in
            var reads: [TopicID: Moment] = [:]
            var rest = topics[...]
            while !rest.isEmpty, servesResources,
                let part = await readsOfOthers(Array(rest.prefix(Self.mostTopics)))
            {
                reads.merge(part) { $1 }
                rest = rest.dropFirst(Self.mostTopics)
            }
            for topic in rest { reads[topic] = .never }
            // The streams of this member are read last, so that a stream counts that has begun here meanwhile.
            reads.merge(hub.lastReads(of: topics)) { max($0, $1) }
            // The streams of a removed member may have carried any topic.
            if let removal = state.withLock({ $0.machine.lastRemoval }) {
                for topic in topics { reads[topic] = max(reads[topic] ?? removal, removal) }
            }
            done(reads)
        }
    }

    /// When streams of the other members have last read topics; nil if a member does not answer.
    private func readsOfOthers(_ topics: [TopicID]) async -> [TopicID: Moment]? {
        let others = processes.filter { $0 != process }
        let question = MemberCall.lastReads(topics).bytes
        return await withTaskGroup(of: [TopicID: Moment]?.self) { group -> [TopicID: Moment]? in
            for other in others { group.addTask { await self.reads(of: topics, on: other, question) } }
            var reads: [TopicID: Moment] = [:]
            for await part in group {
                guard let part else { return nil }
                reads.merge(part) { max($0, $1) }
            }
            return reads
        }
    }

    /// When streams of another member have last read topics, by its answer to an encoded question; nil if there is none.
    private func reads(of topics: [TopicID], on process: UInt64, _ question: [UInt8]) async -> [TopicID: Moment]? {
        guard let connection = state.withLock({ $0.link?.connection }),
            let reply = try? await connection.call(process, question, within: Self.callTime, sent: {}),
            let ages = try? Wire.ages.value(reply), ages.count == topics.count
        else { return nil }
        let now = clock()
        var reads: [TopicID: Moment] = [:]
        for (topic, age) in zip(topics, ages) { reads[topic] = age.map { now - .milliseconds($0) } }
        return reads
    }

    /// How long ago streams of this member have last read topics (see `Wire.ages`).
    func agesOfReads(of topics: [TopicID]) -> [UInt64?] {
        let (reads, now) = (hub.lastReads(of: topics), clock())
        return topics.map { topic in reads[topic].map { UInt64(max(0, (now - $0).clampedNanoseconds / 1_000_000)) } }
    }
}
