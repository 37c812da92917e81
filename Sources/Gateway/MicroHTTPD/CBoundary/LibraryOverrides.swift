internal import CMicroHTTPD
internal import Glibc

// The library calls three of its own functions through the dynamic linker, which finds the definitions of the program
// first. This is the only way to correct two faults of the library. A library that calls these functions directly works
// without the corrections. The definitions below are `public` because the linker must see them, and use plain types
// because the imports are internal.

/// Replaces the function with which the library looks up a header line while it reads the head of a request.
///
/// The replacement reports the line as missing in two cases:
/// - `Content-Length` with a value that is not a number. Version 0.9.75 of the library would send its error page for it
///   twice, one head after the other. Without the line the request reaches `RequestHead`, which refuses it.
/// - `Cookie`. The library would parse the cookies into the memory of the connection, and fail in the same way when
///   that memory is full. The handler reads the cookies from the header lines.
@_cdecl("MHD_lookup_connection_value_n")
public func lookupForLibrary(
    _ connection: OpaquePointer?,
    _ kind: UInt32,
    _ name: UnsafePointer<CChar>?,
    _ nameSize: Int,
    _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
    _ valueSize: UnsafeMutablePointer<Int>?
) -> UInt32 {
    guard let original = LibraryOriginals.lookup else { return LibraryOriginals.no }
    var (found, foundSize): (UnsafePointer<CChar>?, Int) = (nil, 0)
    let result = original(connection, kind, name, nameSize, &found, &foundSize)
    let wanted = UnsafeRawBufferPointer(start: name, count: name == nil ? 0 : nameSize)
    let text = UnsafeRawBufferPointer(start: found, count: found == nil ? 0 : foundSize)
    if wanted.isNamed("cookie") { return LibraryOriginals.no }
    if wanted.isNamed("content-length"), !text.isContentLength { return LibraryOriginals.no }
    value?.pointee = found
    valueSize?.pointee = foundSize
    return result
}

/// Replaces the function with which the library stores a header line. The library stores a line after it has received
/// the next line and before it parses that next line.
///
/// Records whether the next line begins with a colon. Version 0.9.75 of the library writes a NUL byte over the colon,
/// and then takes the line for the empty one that ends the head.
@_cdecl("MHD_set_connection_value_n")
public func storeForLibrary(
    _ connection: OpaquePointer?,
    _ kind: UInt32,
    _ name: UnsafePointer<CChar>?,
    _ nameSize: Int,
    _ value: UnsafePointer<CChar>?,
    _ valueSize: Int
) -> UInt32 {
    guard let original = LibraryOriginals.store else { return LibraryOriginals.no }
    let result = original(connection, kind, name, nameSize, value, valueSize)
    // The library stores its records behind the received bytes in the connection's memory, so more than three bytes
    // follow.
    guard result != LibraryOriginals.no, kind == LibraryOriginals.headerKind, let connection, let value
    else { return result }
    let colon = CChar(bitPattern: UInt8(ascii: ":"))
    let rest = value + valueSize
    if (rest[1] == 0 ? rest[2] : rest[1]) == colon {
        ConnectionBox.object(at: cmhd_socket_context(connection))?.hasNamelessLine = true
    }
    return result
}

/// Replaces the function that queues a response. Responses of the server are queued as they are. The library's own
/// pages, for requests that it refuses itself, are replaced with the handler's responses.
@_cdecl("MHD_queue_response")
public func queueForLibrary(_ connection: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?) -> UInt32 {
    guard let original = LibraryOriginals.queue else { return LibraryOriginals.no }
    guard let connection, let record = ConnectionBox.object(at: cmhd_socket_context(connection)), !record.isQueueing,
        let refusal = RequestRefusal.ofLibrary(status: Int(status))
    else { return original(connection, status, response) }
    let own = record.response(to: refusal, on: connection)
    guard let made = own.makeForLibrary() else { return original(connection, status, response) }
    defer { MHD_destroy_response(made) }
    own.headers.addLines(to: made, closing: true)
    return original(connection, own.sendableStatus, made)
}

private enum LibraryOriginals {
    typealias Lookup =
        @convention(c) (
            OpaquePointer?, UInt32, UnsafePointer<CChar>?, Int, UnsafeMutablePointer<UnsafePointer<CChar>?>?,
            UnsafeMutablePointer<Int>?
        ) -> UInt32
    typealias Store =
        @convention(c) (OpaquePointer?, UInt32, UnsafePointer<CChar>?, Int, UnsafePointer<CChar>?, Int) -> UInt32
    typealias Queue = @convention(c) (OpaquePointer?, UInt32, OpaquePointer?) -> UInt32

    /// `MHD_NO`.
    static let no: UInt32 = 0
    /// `MHD_HEADER_KIND`.
    static let headerKind: UInt32 = 1
    static let lookup = address("MHD_lookup_connection_value_n").map { unsafeBitCast($0, to: Lookup.self) }
    static let store = address("MHD_set_connection_value_n").map { unsafeBitCast($0, to: Store.self) }
    static let queue = address("MHD_queue_response").map { unsafeBitCast($0, to: Queue.self) }

    private static func address(_ name: String) -> UnsafeMutableRawPointer? {
        // `RTLD_NEXT`, a cast that Swift does not import: the definition after this one.
        dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func isNamed(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        for index in 0..<count where self[index].lowercasedASCII != name.utf8Start[index] { return false }
        return true
    }

    /// Whether `RequestHead` and the library both read this as the same number.
    fileprivate var isContentLength: Bool {
        guard (1...RequestHead.mostLengthDigits).contains(count) else { return false }
        return ByteSet.digit.contains(self)
    }
}

extension RequestRefusal {
    /// The refusal that corresponds to the status of a page of the library; nil if that page is sent as it is.
    fileprivate static func ofLibrary(status: Int) -> RequestRefusal? {
        switch status {
        case 400: .malformedHead
        case 413: .bodyTooLarge
        case 414: .targetTooLong
        case 431: .headersTooLarge
        case 501: .unsupportedTransferEncoding
        case 505: .unsupportedVersion
        default: nil
        }
    }
}
