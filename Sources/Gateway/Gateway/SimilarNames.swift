/// Finds the known name that is most similar to an unknown one, for error messages.
package enum SimilarNames {
    /// Longer names are not compared.
    private static let longest = 64

    /// A sentence that suggests a similar known name, with a space before it; empty without one.
    static func hint(for name: String, among known: some Sequence<String>) -> String {
        suggestion(for: name, among: known).map { " Did you mean \($0)?" } ?? ""
    }

    /// The most similar known name: one that differs in case, separators or a plural `s`, or by up to two letters.
    package static func suggestion(for name: String, among known: some Sequence<String>) -> String? {
        guard name.utf8.count <= longest else { return nil }
        let plain = normalized(name)
        guard plain.count >= 3 else { return nil }
        var best: (name: String, distance: Int)?
        for candidate in known {
            let other = normalized(candidate)
            let limit = min(plain.count, other.count) < 5 ? 1 : 2
            let distance = distance(plain, other, atMost: limit)
            if distance <= limit, distance < (best?.distance ?? .max) { best = (candidate, distance) }
        }
        return best?.name
    }

    /// The letters and digits in lower case.
    private static func normalized(_ name: String) -> [UInt8] {
        name.utf8.compactMap { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): nil
            default: byte
            }
        }
    }

    /// The number of inserted, deleted and replaced bytes between two names (Levenshtein distance),
    /// or more than `limit`.
    private static func distance(_ left: [UInt8], _ right: [UInt8], atMost limit: Int) -> Int {
        if abs(left.count - right.count) > limit { return limit + 1 }
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let replaced = diagonal + (byte == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
