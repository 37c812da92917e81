internal import NIOHTTP1

/// The heads of HTTP responses.
enum ResponseHeads {
    /// The head of a response that streams.
    ///
    /// - Parameters:
    ///   - date: The value of the header `Date`.
    static func stream(for request: HTTPRequestHead, date: String) -> HTTPResponseHead {
        var headers = common(for: request, date)
        // Not text/plain: some clients hold the beginning of that back to guess what it is.
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

    /// What every response has: nothing is cached, every origin may read it.
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

/// Instants as HTTP headers write them; computed by hand, for nothing else here needs a calendar.
enum ResponseDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb",
    ]

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, for 784111777 seconds; not before 1970.
    static func text(secondsSince1970 seconds: Int64) -> String {
        let seconds = max(0, seconds)
        let day = seconds / 86_400
        // Years that begin in March have their leap day at their end; eras of 400 years are all alike.
        let sinceMarch = day + 719_468
        let dayOfEra = sinceMarch % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + sinceMarch / 146_097 * 400 + (month >= 10 ? 1 : 0)
        let date = "\(days[Int(day % 7)]), \(twoDigits(dayOfMonth)) \(months[Int(month)]) \(year)"
        let clock = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map(twoDigits).joined(separator: ":")
        return "\(date) \(clock) GMT"
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
