internal import SessionCore

/// Events that many streams get in the same bytes: all those that keep up and have nothing else to be told.
package struct Broadcast {
    /// A range of bytes, which neither change nor move while the owner lives.
    package struct Piece {
        /// The bytes, framed in HTTP chunks.
        package let bytes: UnsafeRawBufferPointer
        /// Keeps them.
        package let owner: AnyObject
    }

    /// The streams, by their tags.
    package let tags: [Int]
    /// The bytes, in order.
    package let pieces: [Piece]
    /// How many events they are.
    let events: Int
    /// When the first of them was published.
    let published: Moment
}
