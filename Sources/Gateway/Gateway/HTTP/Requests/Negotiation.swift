/// Content negotiation by `Accept` (RFC 9110 section 12.5.1).
struct AcceptHeader: Sendable {
    private struct Range: Sendable {
        let type: Substring
        let subtype: Substring
        let quality: Double
        var precision: Int { type == "*" ? 0 : subtype == "*" ? 1 : 2 }
    }

    private let header: String

    /// An `Accept` header; nil and an empty header accept everything.
    init(_ header: String?) { self.header = header ?? "*/*" }

    private var ranges: [Range] {
        header.lowercased().utf8.split(separator: UInt8(ascii: ",")).compactMap { Self.range(Substring($0)) }
    }

    /// Reads one media range with its parameters, in lower case.
    private static func range(_ text: Substring) -> Range? {
        let pieces = text.utf8.split(separator: UInt8(ascii: ";")).map { Substring($0).trimmed }
        guard let names = pieces.first, let slash = names.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let (type, subtype) = (names[..<slash], names[slash...].dropFirst())
        if type.isEmpty || subtype.isEmpty { return nil }
        let quality = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
        return Range(type: type, subtype: subtype, quality: min(max(quality, 0), 1))
    }

    /// Whether a media type is named explicitly, not by a wildcard.
    func names(_ mediaType: String) -> Bool {
        ranges.contains { $0.precision == 2 && "\($0.type)/\($0.subtype)" == mediaType && $0.quality > 0 }
    }

    /// The best of some media types, in the server's order of preference; nil: none is acceptable.
    func best(of offers: [String]) -> String? {
        // Most headers accept everything, or one media type.
        if header == "*/*" { return offers.first }
        if offers.contains(header) { return header }
        let ranges = ranges
        if ranges.isEmpty { return offers.first }
        var best: (offer: String, quality: Double)?
        for offer in offers {
            let quality = Self.quality(of: offer, in: ranges)
            if quality > (best?.quality ?? 0) { best = (offer, quality) }
        }
        return best?.offer
    }

    /// The best of some media types. Throws a 406 problem if none is acceptable.
    func choose(_ offers: [String]) throws(Problem) -> String {
        guard let best = best(of: offers) else {
            throw Problem(.notAcceptable, detail: "The available media types are \(offers.joined(separator: ", ")).")
        }
        return best
    }

    private static func quality(of offer: String, in ranges: [Range]) -> Double {
        guard let slash = offer.utf8.firstIndex(of: UInt8(ascii: "/")) else { return 0 }
        let (type, subtype) = (offer[..<slash], offer[slash...].dropFirst())
        var best: Range?
        for range in ranges where range.type == "*" || range.type == type {
            guard range.subtype == "*" || range.subtype == subtype else { continue }
            if range.precision > (best?.precision ?? -1) { best = range }
        }
        return best?.quality ?? 0
    }
}

extension Substring {
    /// The text without blanks and tabs around it.
    var trimmed: Substring {
        var bytes = utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return Substring(bytes)
    }
}

/// The preferences of `Prefer` (RFC 7240) that the gateway supports.
package struct PreferHeader: Sendable, Equatable {
    /// The longest wait, in seconds; longer ones are reduced to it.
    static let longestWait = 300

    /// How many seconds the response may wait for the outcome; nil: not at all.
    package let wait: Int?

    /// Reads a `Prefer` header. Unknown preferences are ignored, as the RFC demands.
    package init(_ header: String?) {
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
