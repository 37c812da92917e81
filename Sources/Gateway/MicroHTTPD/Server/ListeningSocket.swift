internal import CMicroHTTPD
internal import Glibc

/// A TCP socket that listens. The owner of the value closes it, once.
struct ListeningSocket {
    let descriptor: Int32
    let port: UInt16

    /// Listens on the configured address. Accepted sockets inherit no delay and the size of the send buffer.
    static func open(_ configuration: DaemonConfiguration) throws(DaemonError) -> ListeningSocket {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(configuration.host, "\(configuration.port)", &hints, &list) == 0, let list else {
            throw .badAddress(configuration.host)
        }
        defer { freeaddrinfo(list) }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(list.pointee.ai_family, type, 0)
        guard descriptor >= 0 else { throw .cannotListen(SystemText.last()) }
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        set(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: configuration.sendBufferSize))
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        if list.pointee.ai_family == AF_INET6 { set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        guard bind(descriptor, list.pointee.ai_addr, list.pointee.ai_addrlen) == 0,
            listen(descriptor, 4096) == 0,
            let port = boundPort(of: descriptor)
        else {
            let code = errno
            Glibc.close(descriptor)
            if code == EADDRNOTAVAIL { throw .badAddress(configuration.host) }
            throw .cannotListen(SystemText.text(for: code))
        }
        return ListeningSocket(descriptor: descriptor, port: port)
    }

    /// Another descriptor of the same socket.
    func duplicate() throws(DaemonError) -> ListeningSocket {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .systemRefused(SystemText.last()) }
        return ListeningSocket(descriptor: copy, port: port)
    }

    /// Closes this descriptor; the socket listens until its last one is closed.
    func close() { Glibc.close(descriptor) }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func boundPort(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            let address = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            return getsockname(descriptor, address, &length) == 0 ? PeerAddress(address).port : nil
        }
    }
}

/// The process's limit of open descriptors.
enum DescriptorLimit {
    /// Raises the soft limit to the hard one, if permitted, and returns the present limit.
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 1024 }
        var raised = limit
        raised.rlim_cur = raised.rlim_max
        if setrlimit(resource, &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }
}
