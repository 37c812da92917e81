internal import CMicroHTTPD
internal import Glibc

/// Called on the loop's thread for each new connection, with the front. Nothing is retained.
func acceptCallback(
    context: UnsafeMutableRawPointer?,
    address: UnsafePointer<sockaddr>?,
    length: socklen_t
) -> MHD_Result {
    guard let front = HTTPServerBox.front(at: context) else { return .NO }
    return front.admits(PeerAddress(address)) ? .YES : .NO
}
