/// Says which streams of one loop have something due. Made on the loop's thread, used there only.
package protocol StreamFeed: AnyObject {
    /// Called once for any number of `StreamLoop.wake()` calls since the last time, and not before what was said the last
    /// time to be shared has been written.
    ///
    /// - Parameters:
    ///   - news: Takes the streams that have something due, and what many of them get alike.
    ///   - now: The time of this pass.
    func wokenUp(_ news: inout FeedNews, now: StreamTime)
}
