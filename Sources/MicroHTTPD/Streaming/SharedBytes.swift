/// Bytes that never change and never move, shared by whoever holds the object.
package final class SharedBytes: Sendable {
    // Written once in `init`, before anybody else has the object; read only afterwards.
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
