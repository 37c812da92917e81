/// A client that speaks TLS, by way of `openssl s_client`.
final class SecureClient {
    private let process: ChildProcess
    private var buffer: [UInt8] = []

    /// - Parameters:
    ///   - verbose: Prints the handshake before the answer, with the certificate's names.
    ///   - options: Further options of `openssl s_client`.
    init(port: UInt16, verbose: Bool = false, options: [String] = []) throws {
        let arguments = ["openssl", "s_client", "-connect", "127.0.0.1:\(port)"] + options
        process = try ChildProcess(arguments + (verbose ? [] : ["-quiet"]))
    }

    func send(_ text: String) {
        process.write(text)
    }

    func read(through mark: String) throws -> String {
        let mark = Array(mark.utf8)
        while true {
            if let end = buffer.firstRange(of: mark)?.upperBound {
                defer { buffer.removeFirst(end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            let more = process.readMore()
            guard !more.isEmpty else {
                throw TestClient.Failure(description: "end before \(String(decoding: mark, as: UTF8.self))")
            }
            buffer += more
        }
    }

    func readToEnd() -> String {
        while case let more = process.readMore(), !more.isEmpty { buffer += more }
        return String(decoding: buffer, as: UTF8.self)
    }

    /// Kills the client, and with it the connection.
    func end() {
        process.end()
    }
}
