internal import NIOHTTP1

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The heads of HTTP responses.
enum ResponseHeads {
    /// The head of a response that streams.
    ///
    /// - Parameters:
    ///   - date: The value of the header `Date`.
    static func stream(for request: HTTPRequestHead, date: String) -> HTTPResponseHead {
        var headers = common(for: request, date)
        // Not text/plain: some clients buffer the beginning of it for content sniffing.
        headers.add(name: "Content-Type", value: "text/enriched; charset=UTF-8")
        headers.add(name: "X-Accel-Buffering", value: "no")
        if request.version == .http1_1 {
            headers.add(name: "Transfer-Encoding", value: "chunked")
        } else {
            headers.add(name: "Connection", value: "close")
        }
        return HTTPResponseHead(version: request.version, status: .ok, headers: headers)
    }

    /// The head of a response whose body is known.
    static func short(
        _ answer: HTTPAnswer,
        for request: HTTPRequestHead,
        closes: Bool,
        date: String
    ) -> HTTPResponseHead {
        var headers = common(for: request, date)
        headers.add(name: "Content-Type", value: "text/plain; charset=UTF-8")
        headers.add(name: "Content-Length", value: String(answer.body.count))
        if answer.status == 405 { headers.add(name: "Allow", value: "POST, GET, OPTIONS") }
        if closes {
            headers.add(name: "Connection", value: "close")
        } else if request.version != .http1_1 {
            headers.add(name: "Connection", value: "keep-alive")
        }
        return HTTPResponseHead(
            version: request.version,
            status: HTTPResponseStatus(statusCode: answer.status),
            headers: headers
        )
    }

    /// The headers of every response: no caching, access for every origin.
    private static func common(for request: HTTPRequestHead, _ date: String) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.add(name: "Date", value: date)
        headers.add(name: "Cache-Control", value: "no-store, no-transform, no-cache")
        headers.add(name: "Pragma", value: "no-cache")
        headers.add(name: "Expires", value: "Thu, 1 Jan 1970 00:00:00 GMT")
        guard let origin = request.headers.first(name: "Origin") else { return headers }
        headers.add(name: "Access-Control-Allow-Origin", value: origin)
        headers.add(name: "Access-Control-Allow-Credentials", value: "true")
        headers.add(name: "Vary", value: "Origin")
        if request.method == .OPTIONS {
            headers.add(name: "Access-Control-Allow-Methods", value: "POST, GET, OPTIONS")
            headers.add(name: "Access-Control-Max-Age", value: "3600")
            if let asked = request.headers.first(name: "Access-Control-Request-Headers") {
                headers.add(name: "Access-Control-Allow-Headers", value: asked)
            }
        }
        return headers
    }
}

/// The format of dates in HTTP headers, which Foundation's formatters for Linux do not have.
enum ResponseDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, for 784111777 seconds; not before 1970.
    static func text(secondsSince1970 seconds: Int64) -> String {
        let instant = Date(timeIntervalSince1970: Double(max(0, seconds)))
        let parts = calendar.dateComponents([.weekday, .day, .month, .year, .hour, .minute, .second], from: instant)
        guard let weekday = parts.weekday, let month = parts.month, let year = parts.year else { return "" }
        let clock = [parts.hour, parts.minute, parts.second].map(twoDigits).joined(separator: ":")
        return "\(days[weekday - 1]), \(twoDigits(parts.day)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int?) -> String {
        let number = number ?? 0
        return number < 10 ? "0\(number)" : "\(number)"
    }
}
