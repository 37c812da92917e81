/// A range of bytes that somebody else owns.
struct StreamPiece {
    /// Keeps the bytes alive.
    var owner: AnyObject
    /// The bytes that are still to be written.
    var bytes: UnsafeRawBufferPointer
}
