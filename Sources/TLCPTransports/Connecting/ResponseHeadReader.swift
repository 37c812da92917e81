internal import NIOHTTP1

/// Reads the head of an HTTP/1.x response that is followed by another protocol: the answer to `CONNECT`, or to the
/// handshake of a WebSocket.
struct ResponseHeadReader {
    /// The longest head that is read.
    static let maxLength = 65_536

    private var bytes: [UInt8] = []

    /// Takes in bytes; once the head is complete, the head and what came after it. Informational answers are passed
    /// over, but for 101. Throws for what is no such head, and for one that is too long.
    mutating func feed(_ more: [UInt8]) throws(DialFailure) -> (head: HTTPResponseHead, rest: [UInt8])? {
        bytes += more
        while let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
            let head = try Self.parse(bytes[..<end.lowerBound])
            bytes.removeSubrange(..<end.upperBound)
            if head.status == .switchingProtocols || head.status.code >= 200 {
                defer { bytes = [] }
                return (head, bytes)
            }
        }
        guard bytes.count <= Self.maxLength else { throw .badAnswer("the head of the answer is too long") }
        return nil
    }

    private static func parse(_ bytes: ArraySlice<UInt8>) throws(DialFailure) -> HTTPResponseHead {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        guard let first = lines.popFirst(), let status = status(first) else {
            throw .badAnswer("the answer is not HTTP")
        }
        var headers = HTTPHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon != line.startIndex,
                line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw .badAnswer("the answer has a malformed header") }
            headers.add(name: text(line[..<colon]), value: text(line[line.index(after: colon)...]))
        }
        return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    }

    private static func status(_ line: ArraySlice<UInt8>) -> HTTPResponseStatus? {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8), words[0].count == 8 else { return nil }
        let digits = text(words[1])
        guard digits.utf8.count == 3, let code = UInt16(digits), code >= 100 else { return nil }
        return HTTPResponseStatus(statusCode: Int(code))
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        guard let start = bytes.firstIndex(where: { !isBlank($0) }) else { return "" }
        let end = bytes.lastIndex { !isBlank($0) } ?? start
        return String(decoding: bytes[start...end], as: UTF8.self)
    }
}
