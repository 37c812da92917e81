internal import CMicroHTTPD
internal import Glibc

/// Takes the socket of a connection from the library.
///
/// The library has no call for that; a suspended connection would keep its object and buffers, some 5 KiB, for as long
/// as the stream is open. So the socket gets another descriptor, and a dummy socket gets the old one: the library,
/// resumed, shuts down and closes the dummy and frees everything.
enum SocketHandover {
    /// Moves the socket of a suspended connection (it is then in no epoll set of the library) to another descriptor.
    ///
    /// - Returns: The new descriptor, to be closed by the caller; nil if the system refuses, with nothing changed.
    static func take(_ descriptor: Int32) -> Int32? {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let dummy = socket(AF_UNIX, type, 0)
        guard dummy >= 0 else { return nil }
        defer { close(dummy) }
        let taken = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard taken >= 0 else { return nil }
        guard dup2(dummy, descriptor) == descriptor else {
            close(taken)
            return nil
        }
        // `dup2` does not copy this flag.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return taken
    }
}
