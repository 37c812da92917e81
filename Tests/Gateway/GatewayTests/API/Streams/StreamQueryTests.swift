import EventHub
import MicroHTTPD
import SessionCore
import SessionPool
import TestSupport
import Testing

@testable import Gateway

@Suite struct StreamQueryTests {
    private func sources(_ raw: String, upstreams: [String] = []) throws -> [SourceSelector] {
        var configuration = GatewayConfiguration()
        configuration.pool.upstreams = upstreams.map { UpstreamConfiguration(name: $0, serverAddress: "http://a") }
        return try StreamQuery.sources(Query(raw: raw), SourceDefaults(configuration))
    }

    @Test func listsAreSplitAfterDecodingAndSinglesAreNot() throws {
        let orders = try sources("upstream=demo&mode=MERGE&items=a%2Cb&item=c%2Cd&fields=x,y")
        guard case .join(let upstream, let properties, _) = try #require(orders.first) else {
            Issue.record("no join")
            return
        }
        #expect(upstream == "demo")
        #expect(properties.items == .list(["a", "b", "c,d"]))
        #expect(properties.fields == .list(["x", "y"]))
    }

    @Test func namesAreInTheOrderOfTheQuery() throws {
        let properties = SubscriptionProperties(
            mode: .merge,
            items: .list(["a", "b", "c", "d"]),
            fields: .list(["x", "y", "z"])
        )
        let query = "upstream=d&item=a&items=b,c&field=x&item=d&fields=y&field=z"
        #expect(try sources(query) == [.join(upstream: "d", properties)])
    }

    @Test(arguments: [("item=a&items=b,", "items"), ("items=a,b&item=&item=c", "item"), ("item=&items=a", "item")])
    func refusalsNameTheParameterOfTheName(names: String, parameter: String) {
        let problem = #expect(throws: Problem.self) { try sources("upstream=d&fields=x&\(names)") }
        #expect(problem?.entries.map(\.location) == [.parameter(parameter)])
    }

    /// Without a number if the parameter gives one name.
    @Test(arguments: [
        ("items=a,,b,7", ["Name 2", "Name 4"]), ("item=a&items=b,&item=c%20d", ["Name 2", "Name 2"]),
        ("items=", ["An item name is expected"]), ("items=a&item=", ["An item name is expected"]),
    ])
    func refusalsTellTheNumberOfTheName(names: String, beginnings: [String]) {
        let problem = #expect(throws: Problem.self) { try sources("upstream=d&fields=x&\(names)") }
        #expect(problem?.entries.map { String($0.detail.prefix { $0 != ":" }) } == beginnings)
    }

    @Test(arguments: [
        ("requestedMaxFrequency", "A number greater than 0, 1000000000 at most, unlimited or unfiltered is expected."),
        ("requestedBufferSize", "A whole number from 1 to 1000000000 or unlimited is expected."),
        ("requestedSnapshot", "yes, no or a whole number from 1 to 1000000000 is expected."),
    ])
    func noRuleOfAParameterHasNull(name: String, rule: String) {
        let problem = #expect(throws: Problem.self) { try sources("upstream=d&items=a&fields=b&\(name)=null") }
        #expect(problem?.entries.map(\.detail) == [rule])
    }

    @Test func upstreamAndModeHaveDefaults() throws {
        let properties = SubscriptionProperties(mode: .merge, items: .list(["a"]), fields: .list(["b"]))
        #expect(try sources("items=a&fields=b", upstreams: ["d"]) == [.join(upstream: "d", properties)])
        #expect(try sources("upstream=e&mode=Merge&items=a&fields=b") == [.join(upstream: "e", properties)])
    }

    /// An open stream keeps the id: a long text, which names no event, is not kept.
    @Test(arguments: [("", "e-1"), ("e-2", "e-2"), ("e-" + String(repeating: "9", count: 8_192), "-")])
    func anEmptyHeaderLeavesTheLastEventToTheQuery(header: String, id: String) throws {
        let request = HTTPRequest(
            method: "GET",
            rawPath: "/v1/stream",
            rawQuery: "lastEventId=e-1",
            headers: [HTTPField("Last-Event-ID", header)]
        )
        var call = Call(record: CallRecord(request, requestID: "r", since: .zero))
        call.query = try Query(raw: request.rawQuery)
        #expect(try StreamQuery.request(call).lastEventID == id)
    }

    @Test func existingSourcesMayRepeat() throws {
        #expect(
            try sources("subscription=a&subscription=b&client=c")
                == [
                    .existing(.subscription("a")), .existing(.subscription("b")),
                    .existing(.client("c", withSubscriptions: false)),
                ]
        )
    }

    @Test(arguments: [
        ("", "items"), ("upstream=demo", "items"), ("mode=MERGE&items=a&fields=b", "upstream"),
        ("upstream=d&mode=X&items=a&fields=b", "mode"), ("upstream=d&mode=MERGE&items=a,&fields=b", "items"),
        ("upstream=d&mode=MERGE&items=a&fields=b&subscription=s", "upstream"), ("items=a&client=c", "items"),
        ("upstream=d&upstream=e&mode=MERGE&items=a&fields=b", "upstream"),
    ])
    func refusalsNameTheParameter(raw: String, parameter: String) {
        #expect {
            try sources(raw)
        } throws: { error in
            guard let problem = error as? Problem else { return false }
            return problem.code.status == 422 && problem.entries.contains { $0.location == .parameter(parameter) }
        }
    }
}
