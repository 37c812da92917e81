internal import Primitives

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The cookies of one client, or of several clients with the same jar. In memory; bounded.
public final class CookieJar: Sendable {
    private let store: RankedMutex<CookieStore>
    private let now: @Sendable () -> Double

    /// An empty jar with the system clock.
    public convenience init() { self.init { Date().timeIntervalSince1970 } }

    /// An empty jar with a clock that returns seconds since 1970.
    package init(now: @escaping @Sendable () -> Double) {
        store = RankedMutex(CookieStore())
        self.now = now
    }

    /// Adds cookies, and replaces those with the same name, domain and path.
    public func add(_ cookies: [Cookie]) {
        let now = now()
        store.withLock { store in
            for cookie in cookies { store.insert(cookie, now: now) }
        }
    }

    /// The cookies for a request, in the order of its `Cookie` header.
    public func cookies(for origin: CookieOrigin) -> [Cookie] {
        let now = now()
        return store.withLock { $0.matching(origin, now: now) }
    }

    /// All cookies that have not expired.
    public var all: [Cookie] {
        let now = now()
        return store.withLock { $0.all(now: now) }
    }

    /// Removes every cookie.
    public func removeAll() { store.withLock { $0 = CookieStore() } }

    /// Stores the cookies of the `Set-Cookie` headers of a response.
    package func receive(setCookie headers: some Sequence<String>, from origin: CookieOrigin) {
        let now = now()
        let cookies = headers.compactMap { SetCookieParser.parse($0, from: origin, now: now) }
        guard !cookies.isEmpty else { return }
        add(cookies)
    }

    /// The value of the `Cookie` header for a request; nil: none.
    package func header(for origin: CookieOrigin) -> String? {
        let matching = cookies(for: origin)
        return matching.isEmpty ? nil : matching.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}
