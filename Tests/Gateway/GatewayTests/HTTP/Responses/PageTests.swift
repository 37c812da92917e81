import JSONText
import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct PageTests {
    private func page(_ list: [String], _ query: String) throws -> Page<String> {
        let request = HTTPRequest(method: "GET", rawPath: "/v1/things", rawQuery: query)
        let record = CallRecord(request, requestID: "", since: .zero)
        var call = Call(record: record, respond: { _ in })
        call.query = try Query(raw: query)
        return try Page(of: list, for: call) { $0 }
    }

    private func nextCursor(_ page: Page<String>) throws -> String? {
        let response = page.response("things") { $0.string($1) }.httpResponse()
        guard case .bytes(let bytes) = response.body else { return nil }
        return try JSONValue(parsing: bytes)["nextCursor"]?.string
    }

    @Test func pagesFollowEachOtherWithoutHoleOrRepetition() throws {
        let list = (1...25).map { "id\($0)" }
        var seen: [String] = []
        var cursor: String?
        repeat {
            let page = try page(list, "limit=10" + (cursor.map { "&cursor=\($0)" } ?? ""))
            seen += page.entries
            cursor = try nextCursor(page)
            let link = page.response("things") { $0.string($1) }.headers["Link"]
            #expect((link == nil) == (cursor == nil))
        } while cursor != nil
        #expect(seen == list)
    }

    @Test func deletionsNeitherRepeatNorEndThePaging() throws {
        let first = try page(["a", "b", "c", "d"], "limit=2")
        let cursor = try #require(try nextCursor(first))
        #expect(Array(try page(["b", "c", "d"], "limit=2&cursor=\(cursor)").entries) == ["c", "d"])
        #expect(Array(try page(["a", "c", "d"], "limit=2&cursor=\(cursor)").entries) == ["c", "d"])
        #expect(try page([], "limit=2&cursor=\(cursor)").entries.isEmpty)
    }

    @Test func callersMayDeleteThePagesThatTheyHaveRead() throws {
        var list = (1...11).map { "id\($0)" }
        var seen: [String] = []
        var cursor: String?
        repeat {
            let page = try page(list, "limit=4" + (cursor.map { "&cursor=\($0)" } ?? ""))
            seen += page.entries
            cursor = try nextCursor(page)
            list.removeAll(where: page.entries.contains)
        } while cursor != nil
        #expect(seen == (1...11).map { "id\($0)" })
        #expect(list.isEmpty)
    }

    @Test func anEntryAfterSeveralDeletedOnesIsShown() throws {
        let cursor = try #require(try nextCursor(try page(["a", "b", "c", "d", "e", "f"], "limit=3")))
        #expect(Array(try page(["c", "d", "e", "f"], "limit=3&cursor=\(cursor)").entries) == ["d", "e", "f"])
        #expect(Array(try page(["b", "d", "f"], "limit=3&cursor=\(cursor)").entries) == ["d", "f"])
        #expect(Array(try page(["a", "c", "f"], "limit=3&cursor=\(cursor)").entries) == ["f"])
    }

    @Test func aLargePageEndsEarly() throws {
        let list = (1...5).map { "\($0)" + String(repeating: "x", count: 600_000) }
        let response = try page(list, "limit=5").response("things") { $0.string($1) }
        guard case .bytes(let bytes) = response.body, let page = try JSONValue(parsing: bytes).object else {
            Issue.record("no page")
            return
        }
        #expect(page["things"]?.array?.count == 2)
        let cursor = try #require(page["nextCursor"]?.string)
        #expect(response.headers["Link"]?.contains(cursor) == true)
        #expect(try self.page(list, "limit=5&cursor=\(cursor)").entries.first?.first == "3")
    }

    @Test(arguments: ["cursor=", "cursor=x", "cursor=1.", "cursor=1.G", "cursor=-1.a", "cursor=999999999.a", "limit=0"])
    func aBadCursorOrLimitIsRefused(query: String) {
        #expect { try page(["a"], query) } throws: { ($0 as? Problem)?.code == .invalidValue }
    }
}
