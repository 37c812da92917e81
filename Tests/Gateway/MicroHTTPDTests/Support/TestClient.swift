internal import Glibc

/// A simple client over a real socket. Blocking, with a time limit of ten seconds for each call.
final class TestClient {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    struct Response {
        var statusLine: String
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        var status: Int { Int(statusLine.split(separator: " ").dropFirst().first ?? "") ?? 0 }
        var text: String { String(decoding: body, as: UTF8.self) }

        func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    let descriptor: Int32
    private var buffer: [UInt8] = []

    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(description: "connect: \(errno)") }
    }

    deinit {
        Glibc.close(descriptor)
    }

    func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Failure(description: "send: \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    func shutdownWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads more; false at the end.
    func readMore() throws -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count < 0 { throw Failure(description: "recv: \(errno), have \(String(decoding: buffer, as: UTF8.self))") }
        buffer += bytes[..<count]
        return count > 0
    }

    /// The bytes up to and including the mark.
    func read(through mark: String) throws -> String {
        let mark = Array(mark.utf8)
        while true {
            if let end = buffer.firstRange(of: mark)?.upperBound {
                defer { buffer.removeFirst(end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            guard try readMore() else {
                throw Failure(description: "end before the mark: \(String(decoding: buffer, as: UTF8.self))")
            }
        }
    }

    func read(count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try readMore() else { throw Failure(description: "end after \(buffer.count) bytes of \(count)") }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    func readToEnd() throws -> [UInt8] {
        while try readMore() {}
        defer { buffer = [] }
        return buffer
    }

    /// True if the server has closed the connection, or reset it, and sent nothing more.
    func isClosedByServer() -> Bool {
        do { return try readToEnd().isEmpty } catch { return errno == ECONNRESET }
    }

    func readHead() throws -> Response {
        let lines = try read(through: "\r\n\r\n").split(separator: "\r\n").map(String.init)
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return (name: parts[0], value: String((parts.count > 1 ? parts[1] : "").drop { $0 == " " }))
        }
        return Response(statusLine: lines.first ?? "", headers: Array(headers), body: [])
    }

    func readResponse(hasBody: Bool = true) throws -> Response {
        var response = try readHead()
        if hasBody, let length = response.header("Content-Length").flatMap({ Int($0) }) {
            response.body = try read(count: length)
        }
        return response
    }

    /// One request and its response.
    func exchange(_ request: String) throws -> Response {
        try send(request)
        return try readResponse(hasBody: !request.hasPrefix("HEAD"))
    }

    /// One chunk of a chunked body; nil for the last one.
    func readChunk() throws -> [UInt8]? {
        let line = try read(through: "\r\n")
        guard let count = Int(line.dropLast(1), radix: 16) else { throw Failure(description: "no chunk: \(line)") }
        let chunk = try read(count: count)
        _ = try read(count: 2)
        return count == 0 ? nil : chunk
    }
}

extension Array where Element == UInt8 {
    func firstRange(of mark: [UInt8]) -> Range<Int>? {
        guard count >= mark.count else { return nil }
        for start in 0...(count - mark.count) where self[start] == mark[0] {
            if self[start..<(start + mark.count)].elementsEqual(mark) { return start..<(start + mark.count) }
        }
        return nil
    }
}
