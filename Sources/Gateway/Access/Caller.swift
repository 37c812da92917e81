/// Who makes a request, as far as the gateway knows.
struct Caller: Sendable, Equatable {
    /// `key:` and the name of a key, or `jwt:` and the subject of a token; nil where nobody has to say who they are.
    var identity: String?
    /// What the caller may do.
    var rights = Rights.all
    /// When the rights end, in seconds since 1970; nil: not by themselves.
    var expiry: Double?
}
