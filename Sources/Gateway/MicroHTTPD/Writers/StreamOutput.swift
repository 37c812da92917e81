internal import CGnuTLS
internal import Glibc
internal import StreamIO

/// Writes pieces to sockets and TLS sessions, as many as fit in one system call or record. One for all streams of a
/// loop.
final class StreamOutput {
    enum Result {
        /// This many bytes were accepted, possibly fewer than given.
        case written(Int)
        case broken
    }

    // IOV_MAX on Linux.
    private static let capacity = 1024
    /// The largest content of a TLS record (RFC 8446, 5.1). A client may ask for smaller ones.
    private static let recordSize = 16 * 1024

    private let vectors = UnsafeMutablePointer<iovec>.allocate(capacity: StreamOutput.capacity)
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: StreamOutput.recordSize, alignment: 16)
    private(set) var total: UInt64 = 0

    deinit {
        vectors.deallocate()
        scratch.deallocate()
    }

    struct Load {
        let pieces: Int
        let bytes: Int
    }

    /// Sets the pieces of the next write, as many as it can take, in place of the previous ones.
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
    ///
    /// Bytes that were not accepted have to be the first ones of the next write to the same sink.
    func write(_ load: Load, to sink: StreamSink) -> Result {
        let result =
            switch sink {
            case .socket(let descriptor): send(load, to: descriptor)
            case .session(let session): encrypt(load, for: session)
            }
        if case .written(let count) = result { total &+= UInt64(count) }
        return result
    }

    /// Writes the pieces, without waiting.
    func write(_ pieces: ArraySlice<StreamPiece>, to sink: StreamSink) -> Result {
        var written = 0
        var rest = pieces
        while !rest.isEmpty {
            let load = load(rest)
            guard case .written(let count) = write(load, to: sink) else { return .broken }
            written += count
            if count < load.bytes { break }
            rest = rest.dropFirst(load.pieces)
        }
        return .written(written)
    }

    /// Reads and discards the bytes that the client sent.
    ///
    /// - Returns: The number of bytes, up to some KiB at a time; nil if it closed its side or the connection is broken.
    func drain(_ sink: StreamSink) -> Int? {
        switch sink {
        case .socket(let descriptor): receive(from: descriptor)
        case .session(let session): decrypt(from: session)
        }
    }

    /// Discards input before the socket is closed: with unread input the kernel would discard the last bytes written.
    func discardInput(of descriptor: Int32) {
        var rounds = 0
        while rounds < 16, let count = receive(from: descriptor), count > 0 { rounds += 1 }
    }

    private func receive(from descriptor: Int32) -> Int? {
        let count = recv(descriptor, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
        if count > 0 { return count }
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : nil
    }

    private func send(_ load: Load, to descriptor: Int32) -> Result {
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        while true {
            let result: Int
            if load.pieces == 1 {
                result = Glibc.send(descriptor, vectors[0].iov_base, vectors[0].iov_len, flags)
            } else {
                var message = msghdr()
                message.msg_iov = vectors
                message.msg_iovlen = load.pieces
                result = sendmsg(descriptor, &message, flags)
            }
            if result >= 0 { return .written(result) }
            if errno == EAGAIN || errno == EWOULDBLOCK { return .written(0) }
            if errno != EINTR { return .broken }
        }
    }
}

/// TLS.
extension StreamOutput {
    /// Sends the pieces in as few records as possible.
    private func encrypt(_ load: Load, for session: OpaquePointer) -> Result {
        if load.pieces == 1 { return encrypt(bytes(of: 0), for: session) }
        var sent = 0
        var filled = 0
        for index in 0..<load.pieces {
            var piece = bytes(of: index)
            while !piece.isEmpty {
                let count = min(piece.count, scratch.count - filled)
                UnsafeMutableRawBufferPointer(rebasing: scratch[filled...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: piece[..<count]))
                piece = UnsafeRawBufferPointer(rebasing: piece[count...])
                filled += count
                guard filled == scratch.count || (piece.isEmpty && index == load.pieces - 1) else { continue }
                let record = UnsafeRawBufferPointer(rebasing: scratch[..<filled])
                guard case .written(let count) = encrypt(record, for: session) else { return .broken }
                sent += count
                if count < filled { return .written(sent) }
                filled = 0
            }
        }
        return .written(sent)
    }

    private func bytes(of piece: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: vectors[piece].iov_base, count: vectors[piece].iov_len)
    }

    /// Sends the bytes. A record that the kernel does not accept as a whole stays in the session: its bytes count as
    /// written when a later call, which begins with the same bytes, has sent the rest of it.
    private func encrypt(_ bytes: UnsafeRawBufferPointer, for session: OpaquePointer) -> Result {
        var sent = 0
        while sent < bytes.count, let start = bytes.baseAddress {
            let count = gnutls_record_send(session, start + sent, min(bytes.count - sent, Self.recordSize))
            if count > 0 {
                sent += count
            } else if count == Int(GNUTLS_E_AGAIN) {
                break
            } else if count != Int(GNUTLS_E_INTERRUPTED) {
                return .broken
            }
        }
        return .written(sent)
    }

    /// Receives a record. Messages of TLS itself, such as a request for new keys, take effect in the session.
    private func decrypt(from session: OpaquePointer) -> Int? {
        let count = gnutls_record_recv(session, scratch.baseAddress, scratch.count)
        if count > 0 { return count }
        return count < 0 && gnutls_error_is_fatal(Int32(clamping: count)) == 0 ? 0 : nil
    }
}
