/// What takes the bytes of a stream: for a socket, or for a test.
package protocol ByteSink: ~Copyable {
    /// Takes a range of bytes, which neither change nor move while the owner lives.
    mutating func append(_ bytes: UnsafeRawBufferPointer, owner: AnyObject)
    /// How many bytes it likes to take before it is given to others; 0 when full. An event is not split for it.
    var remainingBytes: Int { get }
    /// Whether it has enough.
    var isFull: Bool { get }
}
