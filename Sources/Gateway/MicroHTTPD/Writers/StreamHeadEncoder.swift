internal import CMicroHTTPD

enum StreamHeadEncoder {
    /// Status line and header lines, with the empty line behind them. Lines that are not allowed are omitted.
    static func encode(_ head: HTTPStreamHead, isChunked: Bool, date: String) -> [UInt8] {
        let status = HTTPResponse(status: head.status).sendableStatus
        var text = StatusLine.text(status, date: date) + "Connection: close\r\n"
        if isChunked { text += "Transfer-Encoding: chunked\r\n" }
        return Array((text + head.headers.sendableText + "\r\n").utf8)
    }
}

/// The first lines of a response that the loop writes.
enum StatusLine {
    static func text(_ status: UInt32, date: String) -> String {
        let phrase = MHD_get_reason_phrase_for(status).map { String(cString: $0) } ?? "Unknown"
        return "HTTP/1.1 \(status) \(phrase)\r\nDate: \(date)\r\n"
    }
}
