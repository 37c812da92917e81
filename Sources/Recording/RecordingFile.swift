internal import Glibc

/// A file on disk that is read as a recording.
package final class RecordingFile: Sendable {
    private let descriptor: Int32

    /// Opens a file. Throws if that is not possible.
    package init(path: String) throws(RecordingFileError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .ofSystem("cannot be read") }
    }

    deinit { close(descriptor) }

    /// A reader at the beginning of the file, which keeps the file open.
    package var reader: RecordingReader {
        RecordingReader { (offset, count) throws(RecordingError) in
            try readBytes(self.descriptor, at: offset, count: count)
        }
    }
}

/// Appends a segment to a recording on disk; one writer at a time.
package final class RecordingWriter {
    private let descriptor: Int32
    /// The size of the file in bytes.
    package private(set) var size: Int
    /// The bytes of an interrupted frame that were removed from the end of the file.
    package let removed: Int
    /// Why a block was not written.
    private var failure: RecordingFileError?

    /// Opens or creates a file and begins a segment. What a crash has left of a frame at the end is removed.
    ///
    /// Throws `RecordingError` for a file that is not a recording, has a damaged frame or cannot be read, which stays as it is,
    /// and `RecordingFileError` for a file that cannot be written or has another writer.
    package init(path: String, segment: RecordedSegment) throws {
        guard let frame = RecordingEncoder.frame(of: segment) else {
            throw RecordingFileError("there are no items or no fields, or too many for a recording")
        }
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw RecordingFileError.ofSystem("cannot be written") }
        do {
            (size, removed) = try Self.repair(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        // From here on `deinit` closes the file.
        try append((size == 0 ? RecordingEncoder.fileHeader : []) + frame)
    }

    /// Locks the file and removes an incomplete frame at its end. Returns the size that is left, and the bytes removed.
    private static func repair(_ descriptor: Int32) throws -> (size: Int, removed: Int) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw RecordingFileError("another process records to it")
        }
        let length = Int(lseek(descriptor, 0, SEEK_END))
        var reader = RecordingReader { (offset, count) throws(RecordingError) in
            try readBytes(descriptor, at: offset, count: count)
        }
        _ = try reader.segments()
        guard reader.position == length || ftruncate(descriptor, off_t(reader.position)) == 0 else {
            throw RecordingFileError.ofSystem("cannot be written")
        }
        return (reader.position, length - reader.position)
    }

    deinit { close(descriptor) }

    /// Writes a block and waits until it is on disk. After an error nothing is written any more: each block continues the
    /// values of the blocks before.
    package func append(_ block: RecordingBlock) throws(RecordingFileError) {
        if let failure { throw failure }
        do throws(RecordingFileError) {
            guard let frame = block.frame() else { throw RecordingFileError("a block exceeds 16 MiB") }
            try append(frame)
        } catch {
            failure = error
            throw error
        }
    }

    private func append(_ bytes: [UInt8]) throws(RecordingFileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written, off_t(size + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .ofSystem("cannot be written") }
            written += count
        }
        size += written
        guard fdatasync(descriptor) == 0 else { throw .ofSystem("cannot be written to disk") }
    }
}

/// Why a file cannot be opened or written.
package struct RecordingFileError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    /// The error with the reason of the system call that has just failed.
    fileprivate static func ofSystem(_ description: String) -> RecordingFileError {
        RecordingFileError("\(description): \(String(cString: strerror(errno)))")
    }
}

/// The bytes of a file at an offset; fewer than `count` at its end.
private func readBytes(_ descriptor: Int32, at offset: Int, count: Int) throws(RecordingError) -> [UInt8] {
    var failure: Int32?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { memory, filled in
        filled = 0
        while filled < count {
            let read = pread(
                descriptor,
                memory.baseAddress?.advanced(by: filled),
                count - filled,
                off_t(offset + filled)
            )
            if read < 0, errno == EINTR { continue }
            if read < 0 { failure = errno }
            if read <= 0 { return }
            filled += read
        }
    }
    if let failure {
        throw RecordingError(position: offset, rule: "the file cannot be read: \(String(cString: strerror(failure)))")
    }
    return bytes
}
