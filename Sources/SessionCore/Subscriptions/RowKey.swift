/// The key of a row in COMMAND mode: equal only if it is the same bytes. (`String` also equates what Unicode calls
/// canonically equivalent, which would merge rows that the server keeps apart.)
struct RowKey: Sendable, Hashable {
    /// The key as the server sent it.
    let text: String

    /// Wraps a key.
    init(_ text: String) { self.text = text }

    static func == (left: RowKey, right: RowKey) -> Bool { left.text.isSameText(as: right.text) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether both strings are the same bytes of UTF-8.
    func isSameText(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                var index = 0
                while index < left.count, left[index] == right[index] { index &+= 1 }
                return index == left.count
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
