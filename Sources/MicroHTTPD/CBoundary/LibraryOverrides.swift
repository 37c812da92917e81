internal import CMicroHTTPD
internal import Glibc

// The library calls three of its own functions through the dynamic linker, which finds the definitions of the program first.
// That is the only way to correct two of its habits; a library that calls them directly behaves as it does without these
// definitions. They are `public` because the linker must see them, and use plain types because the imports are internal.

/// How the library looks up a header line while it reads the head of a request.
///
/// Answers "no such line" in two cases. A `Content-Length` that is no number: the library 0.9.75 would send its page for it
/// twice, one head after the other; so the request reaches `RequestHead`, which refuses it. `Cookie`: the library would
/// parse the cookies into the memory of the connection, and fail in the same way when that is full; the handler reads them
/// from the header lines.
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
    if wanted.isNamed("cookie") || (wanted.isNamed("content-length") && !text.isContentLength) {
        return LibraryOriginals.no
    }
    value?.pointee = found
    valueSize?.pointee = foundSize
    return result
}

/// How the library stores a header line, which it does when it has received the next line and not yet looked into that.
///
/// Notes a next line that begins with a colon. The library 0.9.75 writes a NUL byte over the colon, and then takes the line
/// for the empty one that ends the head.
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
    // What the library has stored is behind the received bytes in the connection's memory, so more than three bytes follow.
    guard result != LibraryOriginals.no, kind == LibraryOriginals.headerKind, let connection, let value,
        let record = ConnectionBox.object(at: cmhd_socket_context(connection))
    else { return result }
    let colon = CChar(bitPattern: UInt8(ascii: ":"))
    let rest = value + valueSize
    if rest[1] == colon || (rest[1] == 0 && rest[2] == colon) { record.hasNamelessLine = true }
    return result
}

/// How a response is queued: ours, and the pages of the library for requests that it refuses itself. Those are replaced with
/// the handler's responses.
@_cdecl("MHD_queue_response")
public func queueForLibrary(_ connection: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?) -> UInt32 {
    guard let original = LibraryOriginals.queue else { return LibraryOriginals.no }
    guard let connection, let record = ConnectionBox.object(at: cmhd_socket_context(connection)), !record.isQueueing,
        let refusal = RequestRefusal.ofLibrary(status: Int(status))
    else { return original(connection, status, response) }
    let own = record.server.response(to: refusal)
    guard let made = own.makeLibraryResponse(closing: true) else { return original(connection, status, response) }
    defer { MHD_destroy_response(made) }
    return original(connection, own.sendableStatus, made)
}

/// The definitions of the library.
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
        count == name.utf8CodeUnitCount && (0..<count).allSatisfy { self[$0].lowercasedASCII == name.utf8Start[$0] }
    }

    /// Whether `RequestHead` and the library both read this as the same number.
    fileprivate var isContentLength: Bool {
        (1...RequestHead.mostLengthDigits).contains(count) && allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension RequestRefusal {
    /// The refusal that a status of the library stands for; nil if the library's response is kept.
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
