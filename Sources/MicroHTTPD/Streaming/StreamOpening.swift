/// What a content learns when its stream is opened.
package struct StreamOpening {
    /// The stream's number, by which the feed names it.
    package let id: StreamID
    /// The loop that writes the stream.
    package let loop: StreamLoop
    /// The loop's feed.
    package let feed: any StreamFeed
    /// What the content's bytes have to look like.
    package let framing: StreamFraming
    /// The time of this pass.
    package let now: StreamTime

    /// An opening from its parts; made by the loop, and by tests of contents.
    package init(id: StreamID, loop: StreamLoop, feed: any StreamFeed, framing: StreamFraming, now: StreamTime) {
        self.id = id
        self.loop = loop
        self.feed = feed
        self.framing = framing
        self.now = now
    }
}
