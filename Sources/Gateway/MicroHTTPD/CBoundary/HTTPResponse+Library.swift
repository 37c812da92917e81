internal import CMicroHTTPD

extension HTTPResponse {
    /// The library's form of the body, without headers; the caller owns its one reference. Nil only if memory is short.
    func makeSized() -> OpaquePointer? {
        switch body {
        case .empty:
            return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { bytes in
                MHD_create_response_from_buffer(
                    bytes.count,
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                    .RESPMEM_MUST_COPY
                )
            }
        case .shared(let shared):
            let context = BodyBox.retain(shared)
            let start = UnsafeMutableRawPointer(mutating: shared.bytes.baseAddress)
            let response = MHD_create_response_from_buffer_with_free_callback_cls(
                shared.count,
                start,
                bodyFreeCallback,
                context
            )
            if response == nil { BodyBox.release(context) }
            return response
        case .omitted(let count):
            let size = UInt64(max(0, count))
            return MHD_create_response_from_callback(size, Self.leastBlock, noContentCallback, nil, nil)
        }
    }

    /// The library's form of a body of unknown length, which is not sent: for `HEAD` on a stream. Otherwise as `makeSized`.
    static func makeUnsized() -> OpaquePointer? {
        let response = MHD_create_response_from_callback(.max, leastBlock, noContentCallback, nil, nil)
        if let response { _ = cmhd_leave_unframed(response) }
        return response
    }

    /// The size of the buffer for a content reader that is never called; 0 is refused.
    private static let leastBlock = 1

    /// A status that can be sent: final and in range.
    var sendableStatus: UInt32 {
        (200...599).contains(status) ? UInt32(status) : 500
    }
}

extension HTTPFields {
    /// Adds the lines that a handler may set to a library response.
    ///
    /// - Parameter closing: Adds `Connection: close`.
    func addLines(to response: OpaquePointer, closing: Bool) {
        var isClosing = closing
        for line in lines where line.isSendable {
            if line.name.equalsIgnoringASCIICase("Connection") {
                isClosing = isClosing || line.value.equalsIgnoringASCIICase("close")
            } else {
                // Without the closures, Swift would copy both texts into arrays first.
                _ = line.name.withCString { name in
                    line.value.withCString { MHD_add_response_header(response, name, $0) }
                }
            }
        }
        if isClosing { MHD_add_response_header(response, "Connection", "close") }
    }
}

extension HTTPField {
    /// Whether a handler may send this line: well-formed, and not about the framing, which the server determines.
    var isSendable: Bool {
        guard !name.isEmpty, ByteSet.token.contains(name), ByteSet.value.contains(value) else { return false }
        for framing in ["Content-Length", "Transfer-Encoding", "Date"] where name.equalsIgnoringASCIICase(framing) {
            return false
        }
        return true
    }
}
