package import Primitives

/// The source of the streams of one loop: opens their contents, and reports those that are due. Made on the loop's
/// thread and used by one thread at a time: that one, or one that publishes an event and writes it while the loop waits.
package protocol StreamFeed: AnyObject {
    /// Opens the content of an admitted stream; its first `fill` follows in the same pass.
    func open(_ opening: StreamOpening) -> any StreamContent

    /// Collects what is due. Called once for any number of wake-ups since the last call, after the shared writes of
    /// the last call.
    ///
    /// - Parameters:
    ///   - news: Receives the streams that are due, and the bytes that many of them share.
    ///   - limit: The number of due streams above which nothing is collected; nil: no limit.
    ///   - now: The time of this pass.
    /// - Returns: False if nothing was collected because more streams are due.
    func collect(into news: inout FeedNews, ifAtMost limit: Int?, now: Moment) -> Bool
}

/// A stream that a handler returns to have it opened; the feed identifies it by its id.
package struct AdmittedStream: Sendable {
    /// The id of the stream in the feed.
    package let id: String
    /// Called exactly once at the end of the stream: on the thread of its loop, or with `neverOpened` on any thread.
    package let onEnd: @Sendable (StreamEnd) -> Void

    package init(id: String, onEnd: @escaping @Sendable (StreamEnd) -> Void) {
        self.id = id
        self.onEnd = onEnd
    }
}

package struct StreamOpening {
    /// The id under which the stream was admitted.
    package let stream: String
    /// The stream's number on its loop, by which the feed reports it.
    package let id: StreamID
    /// The form of the content's bytes.
    package let framing: StreamFraming
    package let now: Moment

    package init(stream: String, id: StreamID, framing: StreamFraming, now: Moment) {
        self.stream = stream
        self.id = id
        self.framing = framing
        self.now = now
    }
}

/// The number of an open stream, unique on its loop: an index into a table whose entries are reused, and the use
/// count of that entry, so that a late message about an old stream never reaches a new one.
package struct StreamID: Sendable, Hashable {
    /// The use count has 31 bits; numbers near the top are reserved for other tokens of loops.
    package static let generationMask: UInt32 = 0x7FFF_FFFF

    /// The index in the loop's table; small and reused.
    package let slot: UInt32
    /// How often the index was used before.
    package let generation: UInt32

    package init(slot: Int, generation: UInt32) {
        self.slot = UInt32(truncatingIfNeeded: slot)
        self.generation = generation & Self.generationMask
    }

    package init(rawValue: UInt64) {
        slot = UInt32(truncatingIfNeeded: rawValue)
        generation = UInt32(truncatingIfNeeded: rawValue >> 32)
    }

    /// Use count in the upper half (31 bits), index in the lower.
    package var rawValue: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}

/// The due streams and shared bytes of a loop.
package struct FeedNews {
    /// The streams that are due. Duplicates and ended streams are ignored.
    package var ready: [StreamID] = []
    /// Bytes that are sent before any stream in `ready` is visited. Ended streams are ignored.
    package var shared: [SharedWrite] = []

    package init() {}

    /// Removes all entries and keeps the memory.
    package mutating func removeAll() {
        ready.removeAll(keepingCapacity: true)
        shared.removeAll(keepingCapacity: true)
    }
}

/// The same bytes for many streams, so that none of them has to be visited.
package struct SharedWrite {
    /// The recipients. Only streams whose framing is `.chunked`, and that are not blocked; others are skipped.
    package let streams: [StreamID]
    package let pieces: [StreamPiece]

    package init(streams: [StreamID], pieces: [StreamPiece]) {
        self.streams = streams
        self.pieces = pieces
    }
}
