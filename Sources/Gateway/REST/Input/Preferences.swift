/// What `Prefer` asks for (RFC 7240), as far as the gateway knows it.
struct Preferences: Sendable, Equatable {
    /// The longest wait that is honoured, in seconds; longer ones are cut to it.
    static let longestWait = 300

    /// How many seconds the caller is ready to wait for the outcome; nil: not at all.
    let wait: Int?

    /// Reads a `Prefer`. What is not understood is passed over, as the RFC wants it.
    init(_ header: String?) {
        var wait: Int?
        for part in (header ?? "").split(separator: ",") {
            let piece = part.prefix { $0 != ";" }
            let pair = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0].trimmed.lowercased() == "wait", wait == nil else { continue }
            var text = pair[1].trimmed
            if text.count >= 2, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { continue }
            wait = min(Int(text) ?? Self.longestWait, Self.longestWait)
        }
        self.wait = wait
    }
}
