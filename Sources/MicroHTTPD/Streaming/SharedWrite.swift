/// The same bytes for many streams: a feed that knows who gets what saves asking each of them.
package struct SharedWrite {
    /// Who gets them. Only streams whose framing is `.chunked`, and that are not blocked; others are passed over.
    package let streams: [StreamID]
    private(set) var pieces: [StreamPiece] = []

    /// No bytes yet.
    package init(streams: [StreamID]) {
        self.streams = streams
    }

    /// Appends a range of bytes; they must not change or move while the owner lives.
    package mutating func append(_ bytes: UnsafeRawBufferPointer, owner: AnyObject) {
        if !bytes.isEmpty { pieces.append(StreamPiece(owner: owner, bytes: bytes)) }
    }
}
