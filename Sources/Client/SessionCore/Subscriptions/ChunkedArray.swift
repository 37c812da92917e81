/// The number of elements of a chunk; a power of two.
private let chunkLength = 64

/// An array in chunks. A copy shares all chunks with the original; a change of an element copies the chunk of the
/// element alone. A snapshot of a large array thus costs little, also if the array changes while the snapshot is kept.
struct ChunkedArray<Element: Sendable>: Sendable {
    private var chunks: [[Element]] = []
    /// The number of elements.
    private(set) var count = 0

    /// The indices of the elements.
    var indices: Range<Int> { 0..<count }

    /// The element at an index.
    subscript(index: Int) -> Element {
        _read { yield chunks[index / chunkLength][index % chunkLength] }
        _modify { yield &chunks[index / chunkLength][index % chunkLength] }
    }

    /// Adds an element at the end.
    mutating func append(_ element: Element) {
        if count % chunkLength == 0 { chunks.append([]) }
        chunks[chunks.count - 1].append(element)
        count += 1
    }

    /// Removes all elements.
    mutating func removeAll() {
        chunks.removeAll()
        count = 0
    }
}
