internal import CMicroHTTPD

/// The head of a response that the loop writes.
enum ResponseHead {
    /// The status line and the date.
    static func statusLine(_ status: UInt32, date: String) -> String {
        let phrase = MHD_get_reason_phrase_for(status).map { String(cString: $0) } ?? "Unknown"
        return "HTTP/1.1 \(status) \(phrase)\r\nDate: \(date)\r\n"
    }

    /// The head of an open response, with the empty line at the end. Lines that are not allowed are omitted.
    static func ofStream(_ headers: HTTPFields, isChunked: Bool, date: String) -> [UInt8] {
        var text = statusLine(200, date: date) + "Connection: close\r\n"
        if isChunked { text += "Transfer-Encoding: chunked\r\n" }
        return Array((text + headers.sendableText + "\r\n").utf8)
    }
}

extension HTTPFields {
    /// The lines as they are sent.
    var text: String { lines.reduce(into: "") { $0 += "\($1.name): \($1.value)\r\n" } }

    /// The lines that are allowed, without `Connection`, which the server decides.
    var sendableText: String {
        HTTPFields(lines.filter { $0.isSendable && !$0.name.equalsIgnoringASCIICase("Connection") }).text
    }
}
