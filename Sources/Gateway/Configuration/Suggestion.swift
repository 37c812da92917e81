/// Finds the known word that is nearest to an unknown one.
package enum Suggestion {
    /// The nearest word; nil if none is near enough to be a typing mistake: two letters, or a third of them, may differ.
    package static func nearest(to word: String, among words: some Sequence<String>) -> String? {
        let limit = max(2, word.count / 3)
        return words.map { (word: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
            .min { ($0.distance, $0.word) < ($1.distance, $1.word) }?.word
    }

    /// The number of letters to insert, remove or replace (Levenshtein distance), without regard to case.
    private static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.lowercased()), Array(other.lowercased()))
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in other.indices {
                let replaced = diagonal + (letter == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}
