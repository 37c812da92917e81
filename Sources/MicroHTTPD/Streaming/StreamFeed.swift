/// Says which streams of one loop have something due. Made on the loop's thread, used there only.
package protocol StreamFeed: AnyObject {
    /// Called once for any number of `StreamLoop.wake()` calls since the last time.
    ///
    /// - Parameters:
    ///   - ready: Takes the streams that have something due. Naming one twice, or one that is over, does no harm.
    ///   - now: The time of this pass.
    func wokenUp(_ ready: inout [StreamID], now: StreamTime)
}
