/// What the built-in feeds publish and how fast.
package struct FeedConfiguration: Sendable, Hashable {
    /// Bounds of the random pause between two updates of one quote item.
    package var quotePause = Duration.milliseconds(200)...Duration.seconds(2)

    /// Bounds of the random pause between two changes of the portfolio.
    package var portfolioPause = Duration.seconds(1)...Duration.seconds(4)

    /// Bounds of the random pause between two events of the raw feed.
    package var rawPause = Duration.milliseconds(300)...Duration.seconds(1)

    /// Bounds of the random pause between two changes of a JSON document.
    package var documentPause = Duration.milliseconds(500)...Duration.seconds(2)

    /// Whether the built-in feeds change at all; a still server serves snapshots and what clients and tests publish.
    package var isMoving = true

    /// Greatest number of updates per second and item that the quote feed allows; nil sets no limit.
    ///
    /// With a limit, `unfiltered` subscriptions to quotes are refused with code 26.
    package var quoteFrequencyLimit: Double?

    /// Diff formats that the feeds ask for: JSON Patch for JSON documents, TLCP-diff for long texts.
    package var diffs = true

    /// The demo's speed.
    package init() {}
}
