/// The segments of a request's path: split at `/` first, then each decoded once, so that `a%2Fb` is one segment.
struct RequestPath: Sendable, Equatable {
    /// The decoded segments; none for `/`.
    let segments: [String]

    /// Takes a raw path apart. Throws a 400 problem for a bad escape and for bytes that are not UTF-8.
    init(raw: String) throws(Problem) {
        guard raw.utf8.first == UInt8(ascii: "/") else {
            throw Problem(.malformed, detail: "The path does not begin with a slash.")
        }
        let rest = raw.dropFirst()
        if rest.isEmpty {
            segments = []
            return
        }
        var segments: [String] = []
        for part in rest.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = PercentDecoding.decode(part, plusIsSpace: false) else {
                throw Problem(.malformed, detail: "The path has a bad escape, or bytes that are not UTF-8.")
            }
            segments.append(segment)
        }
        self.segments = segments
    }
}
