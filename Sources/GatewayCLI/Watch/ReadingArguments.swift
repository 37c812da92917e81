/// The words of `get` and `watch`: an address, items and fields, each of which may be missing.
///
///     [ADDRESS] ITEM… FIELD,…
struct ReadingArguments: Equatable {
    /// The address of a gateway or server, without a scheme if it was given so.
    var address: String?
    /// The names of items, separated by commas.
    var items: String?
    /// The names of fields, separated by commas.
    var fields: String?

    /// Reads words: the first word is an address if it looks like one; the last of several further words has the fields.
    ///
    /// - Parameter hasFields: Whether fields are given elsewhere, so that all words name items.
    init(_ words: [String], hasFields: Bool = false) {
        var words = words[...]
        if let first = words.first, Self.isAddress(first) {
            address = first
            words = words.dropFirst()
        }
        if words.count > 1, !hasFields { fields = words.removeLast() }
        if !words.isEmpty { items = words.joined(separator: ",") }
    }

    /// Whether a word is an address: a URL, `host:port`, or `localhost`.
    private static func isAddress(_ word: String) -> Bool {
        if word.contains("://") || word == "localhost" { return true }
        let authority = word.prefix { $0 != "/" }
        guard let colon = authority.lastIndex(of: ":") else { return false }
        let port = authority[authority.index(after: colon)...]
        return Int(port).map { (1...65_535).contains($0) } ?? false
    }
}
