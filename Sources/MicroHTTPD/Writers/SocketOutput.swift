internal import Glibc
internal import StreamIO

/// Writes pieces to a socket, as many as fit in one system call. One for all streams of a loop.
final class SocketOutput {
    /// The result of a write.
    enum Result {
        /// The kernel accepted this many bytes, possibly fewer than given.
        case written(Int)
        /// The connection is broken.
        case broken
    }

    // IOV_MAX on Linux.
    private static let capacity = 1024

    private let vectors = UnsafeMutablePointer<iovec>.allocate(capacity: SocketOutput.capacity)
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    /// Bytes written so far.
    private(set) var total: UInt64 = 0

    deinit {
        vectors.deallocate()
        scratch.deallocate()
    }

    /// The pieces of the system call.
    struct Load {
        /// How many pieces.
        let pieces: Int
        /// How many bytes.
        let bytes: Int
    }

    /// Sets the pieces of the system call, as many as it can take, in place of the previous ones.
    func load(_ pieces: ArraySlice<StreamPiece>) -> Load {
        var size = 0
        var count = 0
        for piece in pieces.prefix(Self.capacity) {
            vectors[count] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: piece.bytes.baseAddress),
                iov_len: piece.bytes.count
            )
            size += piece.bytes.count
            count += 1
        }
        return Load(pieces: count, bytes: size)
    }

    /// Writes the pieces that were set last, without waiting; any number of times.
    func write(_ load: Load, to descriptor: Int32) -> Result {
        let count = send(load.pieces, to: descriptor)
        if count < 0 { return errno == EAGAIN || errno == EWOULDBLOCK ? .written(0) : .broken }
        total &+= UInt64(count)
        return .written(count)
    }

    /// Writes the pieces, without waiting.
    func write(_ pieces: ArraySlice<StreamPiece>, to descriptor: Int32) -> Result {
        var written = 0
        var rest = pieces
        while !rest.isEmpty {
            let load = load(rest)
            guard case .written(let count) = write(load, to: descriptor) else { return .broken }
            written += count
            if count < load.bytes { break }
            rest = rest.dropFirst(load.pieces)
        }
        return .written(written)
    }

    /// Reads and discards the bytes that the client sent.
    ///
    /// - Returns: The number of bytes, up to a few KiB at a time; nil if it closed its side or the connection is
    ///   broken.
    func drain(_ descriptor: Int32) -> Int? {
        let count = recv(descriptor, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
        if count > 0 { return count }
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : nil
    }

    private func send(_ count: Int, to descriptor: Int32) -> Int {
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        while true {
            let result: Int
            if count == 1 {
                result = Glibc.send(descriptor, vectors[0].iov_base, vectors[0].iov_len, flags)
            } else {
                var message = msghdr()
                message.msg_iov = vectors
                message.msg_iovlen = count
                result = sendmsg(descriptor, &message, flags)
            }
            if result >= 0 || errno != EINTR { return result }
        }
    }
}
