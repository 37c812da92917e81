/// What an HTTP request is for.
struct RequestTarget: Sendable, Hashable {
    /// The path as it came.
    let path: String
    /// What follows the `?`; empty if nothing does.
    let query: String

    /// Reads the target of a request line, which proxies and some clients send as a whole address.
    init(_ uri: String) {
        var target = uri[...]
        for scheme in ["http://", "https://"] where target.prefix(scheme.count).lowercased() == scheme {
            let authority = target.dropFirst(scheme.count)
            target = authority.firstIndex { $0 == "/" || $0 == "?" }.map { authority[$0...] } ?? "/"
            break
        }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        query = parts.count > 1 ? String(parts[1]) : ""
    }
}
