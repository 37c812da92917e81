internal import JSONText
internal import MicroHTTPD

/// One page of a list, selected by `limit` and `cursor`.
///
/// A cursor holds the index of the last entry shown and the hash of its id. The next page starts after that id or, if the
/// entry was deleted, after the index: deletions between two pages neither end the list early nor repeat entries.
struct Page<Element> {
    /// The entries.
    let entries: ArraySlice<Element>
    /// The cursor of the next page; nil on the last one.
    let nextCursor: String?
    /// The `Link` to the next page; nil on the last one.
    let link: String?

    /// Selects a page. Throws a 422 problem for a bad `limit` or `cursor`.
    init(of list: [Element], for call: Call, id: (Element) -> String) throws(Problem) {
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
        let end = min(start + limit, list.count)
        entries = list[start..<end]
        if end < list.count, end > start {
            let cursor = "\(end - 1).\(Self.hash(id(list[end - 1])))"
            nextCursor = cursor
            link = "<\(call.request.rawPath)?limit=\(limit)&cursor=\(cursor)>; rel=\"next\""
        } else {
            nextCursor = nil
            link = nil
        }
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

    /// The page as a JSON object, with the entries in the member `name`.
    func response(_ name: String, _ write: (inout JSONBytes, Element) -> Void) -> Response {
        let response = Response.json { json in
            json.beginObject()
            json.key(name)
            json.beginArray()
            for entry in entries { write(&json, entry) }
            json.endArray()
            json.member("nextCursor", nextCursor)
            json.endObject()
        }
        return link.map { response.with("Link", $0) } ?? response
    }
}
