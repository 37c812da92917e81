package import JSONText
internal import MicroHTTPD

/// One page of a list, selected by `limit` and `cursor`.
///
/// A cursor holds the index of the last entry shown and the hash of its id. The next page starts after that id or, if
/// the entry was deleted, after the index: deletions between two pages neither end the list early nor repeat entries.
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
                let index = list.firstIndex { Self.hash(id($0)) == place.hash } ?? place.index - 1
                start = min(max(index + 1, 0), list.count)
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
        return "\(end - 1).\(Self.hash(id(list[end - 1])))"
    }

    private static func hash(_ id: String) -> String { EntityTag(of: Array(id.utf8)).opaque }

    private static func place(_ cursor: String) -> (index: Int, hash: String)? {
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...8).contains(parts[0].utf8.count), (1...16).contains(parts[1].utf8.count),
            parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let index = Int(parts[0]),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return (index, String(parts[1]))
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
