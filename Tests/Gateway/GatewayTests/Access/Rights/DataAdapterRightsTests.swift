import Testing

@testable import Gateway

/// Callers with limited items name data adapters and selectors.
@Suite struct DataAdapterRightsTests {
    private static let alice = AccessFixture.alice
    private static let admin = AccessFixture.admin

    private static let others = [
        "dataAdapter=PAYROLL", "selector=x", "dataAdapter=PAYROLL&selector=x", "dataAdapter=default",
    ]

    @Test(arguments: others)
    func limitedItemsAreThoseOfTheDefaultAdapterWithoutSelector(parameters: String) async throws {
        let fixture = try await AccessFixture()
        let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f&\(parameters)"
        #expect(fixture.perform("GET", target, as: Self.alice).status == 403)
        #expect(fixture.perform("HEAD", target, as: Self.alice).status == 403)
        #expect(fixture.services.pool.clients().isEmpty)
        #expect(fixture.perform("HEAD", target, as: Self.admin).status == 200)
    }

    @Test(arguments: [#""dataAdapter":"PAYROLL""#, #""selector":"x""#])
    func bodiesAreCheckedAsWell(member: String) async throws {
        let fixture = try await AccessFixture()
        let properties = #""mode":"MERGE","items":["item1"],"fields":["f"],\#(member)"#
        let client = fixture.makeClient(as: Self.alice)
        let requests = [
            ("/v1/subscriptions", #"{"upstream":"demo",\#(properties),"active":false}"#),
            ("/v1/subscriptions", #"{"client":"\#(client)",\#(properties),"active":false}"#),
            ("/v1/streams", #"{"upstream":"demo",\#(properties)}"#),
        ]
        for (target, body) in requests {
            #expect(fixture.perform("POST", target, as: Self.alice, body).status == 403)
        }
        let id = fixture.makeSubscription(as: Self.alice)
        #expect(fixture.perform("PATCH", "/v1/subscriptions/\(id)", as: Self.alice, "{\(member)}").status == 403)
    }

    @Test func theNameOfTheDefaultAdapterIsCovered() async throws {
        let fixture = try await AccessFixture()
        let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f&dataAdapter=DEFAULT"
        #expect(fixture.perform("HEAD", target, as: Self.alice).status == 200)
    }

    @Test func theRightToDataAdaptersCoversThemWithSelectors() async throws {
        var access = AccessFixture.keys()
        access.keys[1].rights.dataAdapters = ["STOCKS", "NEWS_*"].map { WildcardPattern($0) }
        let fixture = try await AccessFixture(access)
        func status(_ parameters: String) -> Int {
            let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f\(parameters)"
            return fixture.perform("HEAD", target, as: Self.alice).status
        }
        for parameters in ["&dataAdapter=STOCKS", "&dataAdapter=NEWS_A", "&dataAdapter=STOCKS&selector=x"] {
            #expect(status(parameters) == 200, "\(parameters)")
        }
        for parameters in ["", "&dataAdapter=DEFAULT", "&dataAdapter=PAYROLL", "&selector=x"] {
            #expect(status(parameters) == 403, "\(parameters)")
        }
    }

    @Test func theRightLimitsCallersWithAllItemsAndTheSecondLevelAsWell() async throws {
        var access = AccessFixture.keys()
        access.keys[0].rights.dataAdapters = [WildcardPattern("DEFAULT")]
        let fixture = try await AccessFixture(access)
        let target = "/v1/stream?upstream=demo&mode=COMMAND&items=item1&fields=key,command&commandSecondLevelFields=f"
        #expect(fixture.perform("HEAD", target, as: Self.admin).status == 200)
        let adapter = "&commandSecondLevelDataAdapter=PAYROLL"
        #expect(fixture.perform("HEAD", target + adapter, as: Self.admin).status == 403)
        // Such a key does not reach the subscriptions of other callers.
        let body = #"{"upstream":"secret","mode":"MERGE","items":["item1"],"fields":["f"],"dataAdapter":"PAYROLL"}"#
        let other = try await AccessFixture()
        #expect(other.perform("POST", "/v1/subscriptions", as: Self.admin, body).status == 201)
        #expect(fixture.perform("POST", "/v1/subscriptions", as: Self.admin, body).status == 403)
    }

    @Test func aTokenNamesDataAdapters() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        func status(_ claims: String) throws -> Int {
            let rights = #""operations":"read subscribe","upstreams":"*","items":"item*""#
            let token = try TokenForge.token(rights + claims, expiry: fixture.time.wall + 100)
            let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f&dataAdapter=STOCKS"
            return fixture.perform("HEAD", target, as: token).status
        }
        #expect(try status("") == 403)
        #expect(try status(#","dataAdapters":"STOCKS""#) == 200)
        #expect(try status(#","dataAdapters":["NEWS"]"#) == 403)
        #expect(try status(#","dataAdapters":7"#) == 401)
    }
}
