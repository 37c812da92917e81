package import JSONText
internal import MicroHTTPD
internal import Primitives

/// One page of a list, selected by `limit` and `cursor`.
///
/// A cursor holds the index of the last entry shown, and the hashes of its id and of that of the next entry. The next
/// page starts between the two entries, or at the index if both were deleted: a caller may delete the entries of a page
/// before it reads the next page, and misses none.
package struct Page<Element: Sendable>: Sendable {
    /// A page ends early when its JSON reaches this size, in bytes.
    static var largestSize: Int { 1 << 20 }

    package let entries: ArraySlice<Element>
    private let list: [Element]
    private let id: @Sendable (Element) -> String
    private let path: String
    private let limit: Int

    /// Selects a page. Throws a 422 problem for a bad `limit` or `cursor`.
    package init(of list: [Element], for call: Call, id: @escaping @Sendable (Element) -> String) throws(Problem) {
        var reader = QueryReader(call.query)
        let limit = reader.integer("limit", in: 1...1000) ?? 100
        var start = 0
        if let cursor = reader.text("cursor") {
            if let place = Self.place(cursor) {
                start = min(Self.start(of: list.lazy.map { Self.hash(id($0)) }, after: place), list.count)
            } else {
                reader.refuse("cursor", "A cursor of this list is expected.")
            }
        }
        try reader.finish()
        entries = list[start..<min(start + limit, list.count)]
        (self.list, self.id, path, self.limit) = (list, id, call.request.rawPath, limit)
    }

    private func cursor(after end: Int) -> String? {
        guard end < list.count, end > entries.startIndex else { return nil }
        let (last, next) = (Self.hash(id(list[end - 1])), Self.hash(id(list[end])))
        return "\(end - 1).\(String(hexadecimal: UInt64(last) << 32 | UInt64(next)))"
    }

    private static func hash(_ id: String) -> UInt32 { UInt32(FNV1a.hash(of: id) >> 32) }

    /// The place of a cursor: the last entry shown, and the next one.
    private typealias Place = (index: Int, last: UInt32, next: UInt32)

    private static func place(_ cursor: String) -> Place? {
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...8).contains(parts[0].utf8.count), (1...16).contains(parts[1].utf8.count),
            parts[0].hasASCIIDigitsOnly, let index = Int(parts[0]),
            parts[1].utf8.allSatisfy({ $0.isASCIIDigit || (0x61...0x66).contains($0) }),
            let hashes = UInt64(parts[1], radix: 16)
        else { return nil }
        return (index, UInt32(hashes >> 32), UInt32(truncatingIfNeeded: hashes))
    }

    /// The index at which the page after a cursor starts.
    private static func start(of hashes: some Sequence<UInt32>, after place: Place) -> Int {
        var next: Int?
        for (index, hash) in hashes.enumerated() {
            if hash == place.last { return index + 1 }
            if hash == place.next { next = index }
        }
        return next ?? place.index
    }

    /// The page as a JSON object with the entries in the member `name`, and a `Link` to the next page.
    package func response(_ name: String, _ write: (inout JSONBytes, Element) -> Void) -> Response {
        var cursor: String?
        let response = Response.json { json in
            json.beginObject()
            json.key(name)
            json.beginArray()
            var end = entries.startIndex
            while end < entries.endIndex, json.bytes.count < Self.largestSize {
                write(&json, entries[end])
                end += 1
            }
            json.endArray()
            cursor = self.cursor(after: end)
            json.member("nextCursor", cursor)
            json.endObject()
        }
        return cursor.map { response.with("Link", "<\(path)?limit=\(limit)&cursor=\($0)>; rel=\"next\"") } ?? response
    }
}
