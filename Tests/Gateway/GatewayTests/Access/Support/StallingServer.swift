import Foundation
import Glibc

/// An HTTP server that begins a response and never ends it.
final class StallingServer: Sendable {
    /// The port that it listens on, on 127.0.0.1.
    let port: UInt16
    /// Ends once a response has begun.
    let begun: AsyncStream<Never>

    /// - Parameter response: The text that it sends; empty: it closes the connection, as a port that speaks TLS.
    init(_ response: String = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{") throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        let (stream, source) = AsyncStream.makeStream(of: Never.self)
        begun = stream
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            var buffer = [UInt8](repeating: 0, count: 4096)
            _ = read(connection, &buffer, buffer.count)
            let bytes = Array(response.utf8)
            if bytes.isEmpty { shutdown(connection, Int32(SHUT_WR)) } else { _ = write(connection, bytes, bytes.count) }
            source.finish()
            // Until the client closes the connection.
            while read(connection, &buffer, buffer.count) > 0 {}
            close(connection)
            close(listener)
        }
    }
}
