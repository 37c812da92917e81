/// Bytes that never change and never move, shared by all holders of the object.
package final class SharedBytes: Sendable {
    // Written once in `init`, before the object is shared; read only afterwards.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    /// A copy of the bytes.
    package init(_ bytes: some Collection<UInt8>) {
        storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        storage.copyBytes(from: bytes)
    }

    deinit {
        storage.deallocate()
    }

    /// The number of bytes.
    package var count: Int { storage.count }

    /// The bytes, valid for as long as the object lives.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(storage) }
}

/// A range of bytes and the object that keeps them alive.
package struct StreamPiece {
    /// Keeps the bytes alive.
    package let owner: AnyObject
    /// The bytes; they neither change nor move while the owner lives.
    package var bytes: UnsafeRawBufferPointer

    /// A range of the owner's bytes.
    package init(owner: AnyObject, bytes: UnsafeRawBufferPointer) {
        self.owner = owner
        self.bytes = bytes
    }
}
