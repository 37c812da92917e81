internal import Primitives

/// Parses `Set-Cookie` headers as leniently as RFC 6265 section 5.2 requires.
enum SetCookieParser {
    /// The maximum length of a header in bytes; longer ones are ignored.
    static let maxLength = 8_192

    /// The longest `Max-Age` in seconds; longer ones are shortened to it.
    static let maxAgeLimit = 1e11

    /// The cookie; missing attributes are taken from the origin of the request. Nil for a header that must be ignored:
    /// without a name, or with a domain that is a single label or does not contain the origin.
    static func parse(_ header: String, from origin: CookieOrigin, now: Double) -> Cookie? {
        guard header.utf8.count <= maxLength else { return nil }
        var parts = header.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let first = parts.popFirst(), let equals = first.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = trimmed(first[..<equals])
        let value = trimmed(first[first.index(after: equals)...])
        guard !name.isEmpty, !name.hasASCIIControls, !value.hasASCIIControls else { return nil }
        var cookie = Cookie(
            name: name,
            value: value,
            domain: origin.host,
            path: defaultPath(origin.path),
            isHostOnly: true
        )
        var maxAge: Double?
        for part in parts {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let attribute = trimmed(part[..<equals]).lowercased()
            let value = equals == part.endIndex ? "" : trimmed(part[part.index(after: equals)...])
            switch attribute {
            case "expires": cookie.expiry = CookieDate.seconds(value) ?? cookie.expiry
            case "max-age": maxAge = seconds(value) ?? maxAge
            case "domain": if !applyDomain(value, to: &cookie, origin: origin) { return nil }
            case "path": cookie.path = value.hasPrefix("/") ? value : defaultPath(origin.path)
            case "secure": cookie.isSecure = true
            default: continue
            }
        }
        if let maxAge { cookie.expiry = maxAge <= 0 ? now - 1 : now + maxAge }
        // A connection without TLS must not set secure cookies.
        return cookie.isSecure && !origin.isSecure ? nil : cookie
    }

    private static func applyDomain(_ value: String, to cookie: inout Cookie, origin: CookieOrigin) -> Bool {
        let domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
        if domain.isEmpty { return true }
        if domain == origin.host {
            cookie.isHostOnly = CookieDomain.isLiteral(domain) || !domain.contains(".")
            return true
        }
        guard domain.contains("."), CookieDomain.isUnder(origin.host, domain) else { return false }
        cookie.domain = domain
        cookie.isHostOnly = false
        return true
    }

    private static func defaultPath(_ path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func seconds(_ text: String) -> Double? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.hasASCIIDigitsOnly else { return nil }
        return Double(text).map { min($0, maxAgeLimit) }
    }

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        guard let start = bytes.firstIndex(where: { !isBlank($0) }) else { return "" }
        let end = bytes.lastIndex { !isBlank($0) } ?? start
        return String(Substring(bytes[start...end]))
    }
}

/// Parses the dates of `Expires` attributes (RFC 6265 section 5.1.1).
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Seconds since 1970; nil for a text that is not a date.
    static func seconds(_ text: String) -> Double? {
        var (time, day, month, year): ((Int, Int, Int)?, Int?, Int?, Int?)
        for token in text.utf8.split(whereSeparator: isDelimiter).prefix(16) {
            if time == nil, let found = clockTime(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = months.firstIndex(of: String(Substring(token.prefix(3))).lowercased()) {
                month = found + 1
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        guard let time, let day, let month, let year, (1...31).contains(day), year >= 1601 else { return nil }
        guard time.0 < 24, time.1 < 60, time.2 < 60 else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        return Double(days * 86_400 + time.0 * 3_600 + time.1 * 60 + time.2)
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    private static func clockTime(_ token: Substring.UTF8View) -> (Int, Int, Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 1...2),
            let minute = number(parts[1], digits: 1...2),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(token.count), token.allSatisfy(\.isASCIIDigit) else { return nil }
        return token.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Days since 1970-01-01. Years begin in March here, so that the leap day is the last one.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
