/// The last rows of a list, oldest first, at most as many as the limit says; appending costs O(1).
struct RecentRows: Sendable {
    private var ring: [[String?]] = []
    private var oldest = 0
    private let limit: Int

    /// An empty window; a limit below 1 keeps nothing.
    init(limit: Int) { self.limit = limit }

    /// Adds a row; the oldest one goes when the window is full.
    mutating func append(_ row: [String?]) {
        if ring.count < limit {
            ring.append(row)
        } else if limit > 0 {
            ring[oldest] = row
            oldest = oldest + 1 == limit ? 0 : oldest + 1
        }
    }

    /// Forgets everything.
    mutating func removeAll() {
        ring.removeAll()
        oldest = 0
    }

    /// The rows, oldest first.
    var rows: [[String?]] { Array(ring[oldest...] + ring[..<oldest]) }
}
