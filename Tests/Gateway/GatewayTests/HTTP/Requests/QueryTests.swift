import Testing

@testable import Gateway

@Suite struct QueryTests {
    @Test func thousandsOfUnknownNamesAreReportedInPart() throws {
        let query = try Query(raw: (0..<3_000).map { "n\($0)" }.joined(separator: "&"))
        let problem = #expect(throws: Problem.self) { try query.allow(only: ["limit"]) }
        #expect(problem?.entries.count == Refusals.mostEntries)
    }

    @Test func plusIsASpaceAndValuesMayRepeat() throws {
        let query = try Query(raw: "item=a+b&item=c%2Bd&&x=1=2&flag")
        #expect(query.values("item") == ["a b", "c+d"])
        #expect(query.values("x") == ["1=2"])
        #expect(query.values("flag") == [""])
        #expect(!query.has("y"))
    }

    @Test(arguments: ["a=%", "a=%f", "%zz=1", "a=%ff"])
    func aBadEscapeIsMalformed(raw: String) {
        #expect { try Query(raw: raw) } throws: { ($0 as? Problem)?.code == .malformed }
    }

    @Test func eachUnknownParameterIsNamedOnce() throws {
        let query = try Query(raw: "limit=1&b=1&a=2&b=3")
        #expect {
            try query.allow(only: ["limit"])
        } throws: { error in
            guard let problem = error as? Problem else { return false }
            return problem.code == .unknownParameter
                && problem.entries.map(\.location) == [.parameter("b"), .parameter("a")]
        }
    }

    @Test(arguments: [
        ("items", "item"), ("ITEM", "item"), ("last_event_id", "lastEventId"), ("itemposition", nil),
        ("itempos", "itemPos"),
        ("feild", "field"), ("x", nil), ("nonsense", nil),
    ])
    func aSimilarParameterIsSuggested(name: String, suggestion: String?) throws {
        let known = ["item", "itemPos", "field", "fieldPos", "key", "lastEventId"]
        #expect {
            try Query(raw: "\(name)=1").allow(only: known)
        } throws: { error in
            let detail = (error as? Problem)?.entries.first?.detail ?? ""
            guard let suggestion else { return !detail.contains("Did you mean") }
            return detail.hasSuffix("Did you mean \(suggestion)?")
        }
    }

    @Test(arguments: ["limit=0", "limit=1001", "limit=x", "limit=01", "limit=1&limit=2", "limit=99999999999999999999"])
    func aBadNumberIsRefused(raw: String) throws {
        var reader = QueryReader(try Query(raw: raw))
        #expect(reader.integer("limit", in: 1...1000) == nil)
        #expect(reader.refusals.map(\.location) == [.parameter("limit")])
    }

    @Test(arguments: [("f=2", 2.0), ("f=0.5", 0.5), ("f=1e3", 1000)])
    func aNumberIsRead(raw: String, number: Double) throws {
        var reader = QueryReader(try Query(raw: raw))
        #expect(reader.positive("f", upTo: 1000) == number)
    }

    @Test(arguments: ["f=0", "f=-1", "f=inf", "f=nan", "f=0x1p3", "f=1001", "f="])
    func aBadFrequencyIsRefused(raw: String) throws {
        var reader = QueryReader(try Query(raw: raw))
        #expect(reader.positive("f", upTo: 1000) == nil)
        #expect(throws: Problem.self) { try reader.finish() }
    }
}
