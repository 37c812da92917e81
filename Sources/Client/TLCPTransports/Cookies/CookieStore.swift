internal import Primitives

/// A list of cookies with the rules of RFC 6265 sections 5.3 and 5.4. The time is an argument.
struct CookieStore {
    /// The maximum number of cookies of a domain; the oldest is removed (RFC 6265 section 6.1).
    static let maxPerDomain = 50
    /// The maximum number of all cookies; the oldest is removed.
    static let maxCookies = 3_000
    /// The maximum size of all cookies in bytes; the oldest are removed.
    static let maxBytes = 256 * 1024

    /// In order of creation.
    private var cookies: [Cookie] = []

    /// Stores a cookie; an expired one removes the stored one.
    mutating func insert(_ cookie: Cookie, now: Double) {
        let isExpired = cookie.isExpired(at: now)
        let same = cookies.firstIndex {
            $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path
        }
        if let same {
            // A replaced cookie keeps its position, because the order of the header depends on the creation time.
            if isExpired { cookies.remove(at: same) } else { cookies[same] = cookie }
        } else {
            guard !isExpired else { return }
            evict(for: cookie, now: now)
            cookies.append(cookie)
        }
        limitBytes()
    }

    private mutating func limitBytes() {
        var excess = cookies.reduce(-Self.maxBytes) { $0 + $1.byteCount }
        let kept = cookies.firstIndex { cookie in
            if excess <= 0 { return true }
            excess -= cookie.byteCount
            return false
        }
        cookies.removeFirst(kept ?? cookies.count)
    }

    private mutating func evict(for cookie: Cookie, now: Double) {
        guard cookies.count >= Self.maxPerDomain else { return }
        cookies.removeAll { $0.isExpired(at: now) }
        if cookies.count(where: { $0.domain == cookie.domain }) >= Self.maxPerDomain,
            let oldest = cookies.firstIndex(where: { $0.domain == cookie.domain })
        {
            cookies.remove(at: oldest)
        }
        if cookies.count >= Self.maxCookies { cookies.removeFirst() }
    }

    /// The cookies for a request: longer paths first, then by age.
    func matching(_ origin: CookieOrigin, now: Double) -> [Cookie] {
        let matching = cookies.filter { cookie in
            !cookie.isExpired(at: now) && (!cookie.isSecure || origin.isSecure)
                && Self.domainMatches(cookie, origin.host) && Self.pathMatches(cookie.path, origin.path)
        }
        return matching.enumerated().sorted { left, right in
            let lengths = (left.element.path.utf8.count, right.element.path.utf8.count)
            return lengths.0 != lengths.1 ? lengths.0 > lengths.1 : left.offset < right.offset
        }.map(\.element)
    }

    /// The cookies that have not expired.
    func all(now: Double) -> [Cookie] { cookies.filter { !$0.isExpired(at: now) } }

    private static func domainMatches(_ cookie: Cookie, _ host: String) -> Bool {
        host == cookie.domain || (!cookie.isHostOnly && CookieDomain.isUnder(host, cookie.domain))
    }

    /// RFC 6265 section 5.1.4.
    private static func pathMatches(_ cookiePath: String, _ path: String) -> Bool {
        if path == cookiePath { return true }
        guard path.hasPrefix(cookiePath) else { return false }
        return cookiePath.hasSuffix("/") || path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }
}

extension Cookie {
    fileprivate func isExpired(at now: Double) -> Bool { expiry.map { $0 <= now } ?? false }

    fileprivate var byteCount: Int { name.utf8.count + value.utf8.count + domain.utf8.count + path.utf8.count }
}

/// Comparisons of host names for cookies.
enum CookieDomain {
    /// Whether a host is a subdomain of a domain (RFC 6265 section 5.1.3); never for literal addresses.
    static func isUnder(_ host: String, _ domain: String) -> Bool {
        guard !domain.isEmpty, host.hasSuffix("." + domain) else { return false }
        return !isLiteral(host)
    }

    /// Whether a host is an IPv4 or IPv6 literal.
    static func isLiteral(_ host: String) -> Bool {
        host.contains(":") || host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
    }
}
