/// What a feed says when it is asked.
package struct FeedNews {
    /// The streams that have something due. Naming one twice, or one that is over, does no harm.
    package var ready: [StreamID] = []
    /// Bytes that go out before anything that the streams are asked for. Naming a stream that is over does no harm.
    package var shared: [SharedWrite] = []

    /// Nothing.
    package init() {}

    mutating func removeAll() {
        ready.removeAll(keepingCapacity: true)
        shared.removeAll(keepingCapacity: true)
    }
}
