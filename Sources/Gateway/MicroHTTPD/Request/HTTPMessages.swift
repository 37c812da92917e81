internal import Glibc
package import StreamIO

/// One request with its body, exactly as received.
package struct HTTPRequest: Sendable {
    /// The method: any token, in its original case.
    package var method: String
    /// The path as sent, still percent-encoded, `%2F` and `%00` included. For the absolute form of a request target
    /// (`GET http://host/path`) only its path; for `OPTIONS *` the asterisk.
    package var rawPath: String
    /// The part after the first `?`, as sent; nil without a `?`, empty after a trailing one.
    package var rawQuery: String?
    /// All header lines in their order, repeated ones included.
    package var headers: HTTPFields
    /// The whole body, chunked framing removed.
    package var body: [UInt8]
    package var peer: PeerAddress

    /// A request from its parts; used by the server, and by tests of handlers.
    package init(
        method: String,
        rawPath: String,
        rawQuery: String? = nil,
        headers: HTTPFields = HTTPFields(),
        body: [UInt8] = [],
        peer: PeerAddress = PeerAddress(host: "127.0.0.1", port: 0)
    ) {
        self.method = method
        self.rawPath = rawPath
        self.rawQuery = rawQuery
        self.headers = headers
        self.body = body
        self.peer = peer
    }
}

/// The network address of a client.
package struct PeerAddress: Sendable, Hashable {
    /// The numeric address, IPv4-mapped IPv6 written as IPv4; empty if unknown.
    package var host: String
    /// The port; 0 if unknown.
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }
}

extension PeerAddress {
    /// The address in a system structure; empty for another family than IPv4 and IPv6.
    init(_ address: UnsafePointer<sockaddr>?) {
        self.init(host: "", port: 0)
        guard let address else { return }
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            var ipv4 = raw.loadUnaligned(as: sockaddr_in.self)
            host = Self.text(AF_INET, &ipv4.sin_addr)
            port = UInt16(bigEndian: ipv4.sin_port)
        case AF_INET6:
            var ipv6 = raw.loadUnaligned(as: sockaddr_in6.self)
            host = Self.text(AF_INET6, &ipv6.sin6_addr)
            port = UInt16(bigEndian: ipv6.sin6_port)
            if host.hasPrefix("::ffff:"), host.contains(".") { host.removeFirst(7) }
        default:
            break
        }
    }

    private static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            guard let start = buffer.baseAddress,
                let text = inet_ntop(family, address, start, socklen_t(buffer.count))
            else { return "" }
            return String(cString: text)
        }
    }
}

/// A complete response.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case empty
        /// Bytes, which are copied.
        case bytes([UInt8])
        /// Bytes that are shared, not copied, and kept until they are sent.
        case shared(SharedBytes)
        /// A number of bytes that are not sent, nil for those of a stream: for a 304 and for responses to `HEAD` only.
        case omitted(Int?)

        package var count: Int {
            switch self {
            case .empty: 0
            case .bytes(let bytes): bytes.count
            case .shared(let bytes): bytes.count
            case .omitted(let count): count ?? 0
            }
        }
    }

    /// The status code, 200 to 599.
    package var status: Int
    /// Header lines. `Content-Length`, `Transfer-Encoding` and `Date` are added by the server and ignored here;
    /// `Connection: close` is honoured.
    package var headers: HTTPFields
    /// The body. Responses to `HEAD` and responses with status 304 carry the length of the body, but not its bytes:
    /// pass the body of the full response or its length, otherwise the length is sent as 0. A 204 is sent without a
    /// length.
    package var body: Body
    /// The caller whose responses the memory of the body counts with; nil: the address of the connection has no other.
    package var caller: String?

    package init(status: Int, headers: HTTPFields = HTTPFields(), body: Body = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Header lines in their order.
package struct HTTPFields: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The lines, repeated names included.
    package var lines: [HTTPField]

    package init(_ lines: [HTTPField] = []) { self.lines = lines }

    package init(arrayLiteral elements: HTTPField...) { lines = elements }

    /// The value of the first line of that name, compared without regard to case; nil if there is none.
    package subscript(name: String) -> String? {
        for line in lines where line.name.equalsIgnoringASCIICase(name) { return line.value }
        return nil
    }

    /// The values of all lines of that name, in order, not split at commas.
    package func values(of name: String) -> [String] {
        var values: [String] = []
        for line in lines where line.name.equalsIgnoringASCIICase(name) { values.append(line.value) }
        return values
    }

    /// The values of all lines of that name, in order, joined by commas; nil if there is none.
    package func joined(_ name: String) -> String? {
        var joined: String?
        for line in lines where line.name.equalsIgnoringASCIICase(name) {
            if let first = joined { joined = "\(first), \(line.value)" } else { joined = line.value }
        }
        return joined
    }

    package mutating func append(_ name: String, _ value: String) {
        if lines.isEmpty { lines.reserveCapacity(Self.usualCount) }
        lines.append(HTTPField(name, value))
    }

    /// The number of lines that most responses do not exceed.
    private static let usualCount = 8
}

/// One header line of a request or response.
package struct HTTPField: Sendable, Hashable {
    /// The name as written on the wire; comparisons ignore its case.
    package var name: String
    /// The value without surrounding white space. Bytes that are not UTF-8 are replaced by U+FFFD.
    package var value: String

    /// A header line. In responses, a line with a name or value that is not allowed on the wire is left out.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension String {
    /// Compares bytes, taking `A`–`Z` as `a`–`z`: how HTTP compares header names.
    func equalsIgnoringASCIICase(_ other: String) -> Bool {
        if self == other { return true }
        guard utf8.count == other.utf8.count else { return false }
        for (byte, otherByte) in zip(utf8, other.utf8) where byte.lowercasedASCII != otherByte.lowercasedASCII {
            return false
        }
        return true
    }
}

extension UInt8 {
    var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
