/// Reads a `Set-Cookie` header (RFC 6265 section 5.2); tolerant, as that section wants it.
enum SetCookieParser {
    /// The longest header that is looked at.
    static let maxLength = 8_192

    /// The cookie, with what the header leaves out taken from the request's origin; nil for a header that must be
    /// ignored: no name, a domain that the origin does not lie in, or a single label as domain.
    static func parse(_ header: String, from origin: CookieOrigin, now: Double) -> Cookie? {
        guard header.utf8.count <= maxLength else { return nil }
        var parts = header.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let first = parts.popFirst(), let equals = first.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = trimmed(first[..<equals])
        let value = trimmed(first[first.index(after: equals)...])
        guard !name.isEmpty, isClean(name), isClean(value) else { return nil }
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
        // A plain connection must not overwrite what an encrypted one has set as secure.
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
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        // A number too long for its meaning is as good as for ever.
        return Double(text).map { min($0, 1e11) }
    }

    private static func isClean(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        guard let start = bytes.firstIndex(where: { !isBlank($0) }) else { return "" }
        let end = bytes.lastIndex { !isBlank($0) } ?? start
        return String(Substring(bytes[start...end]))
    }
}
