/// The upstream and the credentials that a pooled session is opened with: sessions are shared only where both agree.
package struct SessionKey: Hashable, Sendable {
    /// The configured upstream.
    package let upstream: String
    /// The user; nil: none.
    package let user: String?
    /// The password; nil: none.
    package let password: String?

    /// A key.
    package init(upstream: String, user: String?, password: String?) {
        self.upstream = upstream
        self.user = user
        self.password = password
    }
}
