internal import CMicroHTTPD

/// Writes the head of a stream.
enum StreamHeadEncoder {
    /// Status line and header lines, with the empty line behind them. Lines that are not allowed are omitted.
    static func encode(_ head: HTTPStreamHead, isChunked: Bool, date: String) -> [UInt8] {
        let status = HTTPResponse(status: head.status).sendableStatus
        let phrase = MHD_get_reason_phrase_for(status).map { String(cString: $0) } ?? "Unknown"
        var text = "HTTP/1.1 \(status) \(phrase)\r\nDate: \(date)\r\nConnection: close\r\n"
        if isChunked { text += "Transfer-Encoding: chunked\r\n" }
        for line in head.headers.lines where line.isSendable && !line.isNamed("Connection") {
            text += "\(line.name): \(line.value)\r\n"
        }
        return Array((text + "\r\n").utf8)
    }
}
