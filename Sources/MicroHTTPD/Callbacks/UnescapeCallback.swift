internal import CMicroHTTPD
internal import Glibc

/// Called on the loop's thread for every part of a request target. Leaves it as it is: the raw target is kept from the
/// request line, and decoding is the business of whoever knows where segments end.
func unescapeCallback(
    context: UnsafeMutableRawPointer?,
    connection: OpaquePointer?,
    text: UnsafeMutablePointer<CChar>?
) -> Int {
    text.map { strlen($0) } ?? 0
}
