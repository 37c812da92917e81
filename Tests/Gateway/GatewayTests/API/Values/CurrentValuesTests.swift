import Changes
import Dispatch
import JSONText
import MicroHTTPD
import SessionCore
import Synchronization
import Testing

@testable import Gateway
@testable import SessionPool

/// `GET /v1/values`: the hub gets the events that a server would cause.
@Suite struct CurrentValuesTests {
    private let fixture = Fixture()
    private static let quote = "/v1/values?items=a&fields=x,y"

    /// The shared subscription that the last request has joined.
    private var shared: String { fixture.services.pool.resources().last?.id.rawValue ?? "" }

    private func publish(_ events: SubscriptionEvent...) {
        for event in events { fixture.hub.take(.subscription(SubscriptionID(shared), .event(event))) }
    }

    private static let layout = SubscriptionLayout(
        itemNames: ["a"],
        fieldNames: ["x", "y"],
        fieldCount: 2,
        keyPosition: nil,
        commandPosition: nil
    )

    private func update(_ values: [String?], item: Int = 1) -> SubscriptionEvent {
        .update(
            ItemUpdate(
                layout: Self.layout,
                itemPos: item,
                isSnapshot: true,
                values: values,
                changed: FieldSet(all: values.count)
            )
        )
    }

    private static let subscribed = SubscriptionEvent.subscribed(
        itemCount: 1,
        fieldCount: 2,
        keyPosition: nil,
        commandPosition: nil
    )

    /// Performs a request that has to wait; its response follows `meanwhile`.
    private func awaited(
        _ target: String,
        _ headers: [String: String] = [:],
        _ meanwhile: () -> Void
    ) async -> Fixture.Outcome {
        let (responses, source) = AsyncStream.makeStream(of: HTTPResponse.self)
        let outcome = fixture.perform("GET", target, "", headers) { source.yield($0) }
        guard outcome.isWaiting else { return outcome }
        meanwhile()
        for await response in responses { return Fixture.outcome(response) }
        return outcome
    }

    @Test func valuesAreSentOnceTheSnapshotIsThere() async {
        let response = await awaited(Self.quote) { publish(Self.subscribed, update(["1.5", nil])) }
        #expect(response.status == 200)
        let item = response.json["items"]?.array?.first
        #expect(response.json["upstream"]?.string == "demo")
        #expect(item?["item"]?.string == "a")
        #expect(item?["fields"]?["x"]?.string == "1.5")
        #expect(item?["fields"]?["y"]?.isNull == true)
        #expect(item?["age"]?.number != nil)
        #expect(response.text.hasSuffix("}\n"))
    }

    @Test func secondRequestIsAnsweredAtOnceFromTheSharedSubscription() async {
        _ = await awaited(Self.quote) { publish(Self.subscribed, update(["1.5", "2"])) }
        #expect(fixture.perform("GET", Self.quote).status == 200)
        #expect(fixture.services.pool.resources().count == 1)
    }

    @Test(arguments: [
        ("text/csv", nil, "item,x,y\r\na,1.5,\"b,c\"\r\n"), ("*/*", "csv", "item,x,y\r\na,1.5,\"b,c\"\r\n"),
        ("text/plain", nil, "1.5\tb,c\n"), ("application/json", "text", "1.5\tb,c\n"),
    ])
    func formsFollowAcceptOrFormat(accept: String, format: String?, text: String) async {
        _ = await awaited(Self.quote) { publish(Self.subscribed, update(["1.5", "b,c"])) }
        let target = Self.quote + (format.map { "&format=\($0)" } ?? "")
        #expect(fixture.perform("GET", target, "", ["Accept": accept]).text == text)
    }

    @Test func linesAreOneObjectForEachItem() async {
        _ = await awaited(Self.quote) { publish(Self.subscribed, update(["1.5", "2"])) }
        let response = fixture.perform("GET", Self.quote + "&format=ndjson")
        #expect(response.headers["Content-Type"] == "application/x-ndjson")
        #expect(response.text.hasPrefix(#"{"item":"a","itemPos":1,"fields":{"x":"1.5","y":"2"},"age":"#))
        #expect(response.text.hasSuffix("}\n"))
    }

    @Test func onlyValueIsBareTextAndNullIsNoContent() async {
        let target = "/v1/values?items=a&fields=x&format=text"
        let none = await awaited(target) { publish(Self.subscribed, update([nil])) }
        #expect(none.status == 204)
        publish(update(["23.91"]))
        #expect(fixture.perform("GET", target).text == "23.91")
    }

    @Test func refusalOfTheServerIs502() async {
        let response = await awaited(Self.quote) { publish(.failed(code: 21, message: "Bad Item Group name")) }
        #expect(response.status == 502)
        #expect(response.json["upstream"]?["code"]?.number?.intValue == 21)
        #expect(response.headers["Preference-Applied"] == nil)
    }

    private static let twoLevels = "/v1/values?mode=COMMAND&items=a&fields=key,command&commandSecondLevelFields=x"

    /// A row of a key, with the second level if it has three values.
    private func row(_ values: String..., item: Int = 1) -> SubscriptionEvent {
        let layout = SubscriptionLayout(
            itemNames: ["a", "b"],
            fieldNames: ["key", "command"],
            fieldCount: 2,
            keyPosition: 1,
            commandPosition: 2,
            hasSecondLevel: true
        )
        let changed = FieldSet(all: values.count)
        return .update(ItemUpdate(layout: layout, itemPos: item, isSnapshot: true, values: values, changed: changed))
    }

    /// A key that is no item name (14) has no second level; the server has refused nothing.
    @Test(arguments: [(17, 502), (14, 200)])
    func keysWhoseSecondLevelIsRefusedAreNotAwaited(code: Int, status: Int) {
        _ = fixture.perform("GET", Self.twoLevels, "", ["Prefer": "wait=0"])
        publish(
            .subscribed(itemCount: 1, fieldCount: 2, keyPosition: 1, commandPosition: 2),
            row("k", "ADD"),
            .endOfSnapshot(itemPos: 1)
        )
        #expect(fixture.perform("GET", Self.twoLevels).isWaiting)
        publish(.secondLevelFailed(code: code, message: "Refused", key: "k"))
        let refused = fixture.perform("GET", Self.twoLevels)
        #expect(refused.status == status)
        #expect(refused.json["upstream"]?["code"]?.number?.intValue == (status == 502 ? code : nil))
        // Another key has a second level: the row of the first one has no values of it.
        publish(row("l", "ADD"), row("l", "UPDATE", "7"))
        let keys = fixture.perform("GET", Self.twoLevels).json["items"]?.array?.first?["keys"]
        #expect(keys?["k"] == ["key": "k", "command": "ADD"])
        #expect(keys?["l"] == ["key": "l", "command": "UPDATE", "x": "7"])
        // A key that is added again has another second-level subscription.
        publish(row("k", "DELETE"), row("k", "ADD"))
        #expect(fixture.perform("GET", Self.twoLevels).isWaiting)
    }

    /// A gateway that receives the state of a subscription knows which keys are not to be awaited.
    @Test func refusalsOfTheSecondLevelBelongToTheState() {
        var properties = SubscriptionProperties(
            mode: .command,
            items: .list(["a", "b"]),
            fields: .list(["key", "command"])
        )
        properties.secondLevelFields = .list(["x"])
        var (table, copy) = (ValueTable(properties: properties), ValueTable(properties: properties))
        table.apply(.subscribed(itemCount: 2, fieldCount: 2, keyPosition: 1, commandPosition: 2))
        for item in [1, 2] { table.apply(row("k", "ADD", item: item)) }
        table.apply(.secondLevelFailed(code: 17, message: "Refused", key: "k"))
        for event in table.eventsWithRows { copy.apply(event) }
        #expect(copy.secondLevelRefusal?.code == 17)
        // The other item has the key as well.
        copy.apply(row("k", "DELETE", item: 2))
        #expect(copy.hasSecondLevels)
        copy.apply(.clearSnapshot(itemPos: 1))
        copy.apply(row("k", "ADD"))
        #expect(!copy.hasSecondLevels)
    }

    @Test func problemsConfirmTheWaitThatWasRequested() async {
        let late = fixture.perform("GET", Self.quote, "", ["Prefer": "wait=0"])
        #expect(late.status == 504)
        #expect(late.headers["Preference-Applied"] == "wait=0")
        let refused = await awaited(Self.quote, ["Prefer": "wait=20"]) {
            publish(.failed(code: 21, message: "Bad Item Group name"))
        }
        #expect(refused.status == 502)
        #expect(refused.headers["Preference-Applied"] == "wait=20")
    }

    @Test func missingValuesAre504WithWhatIsKnown() {
        let response = fixture.perform("GET", Self.quote, "", ["Prefer": "wait=0"])
        #expect(response.status == 504)
        #expect(response.code == "no-value")
        let detail = response.json["detail"]?.string ?? ""
        #expect(detail.hasPrefix("The server has not answered the subscription within 0 s; the session is "))
        #expect(response.json["subscribed"]?.bool == false)
        #expect(response.json["items"]?.array?.isEmpty == true)
    }

    private static let table = "/v1/values?mode=COMMAND&items=a,b&fields=key,command"
    private static let tableSubscribed = SubscriptionEvent.subscribed(
        itemCount: 2,
        fieldCount: 2,
        keyPosition: 1,
        commandPosition: 2
    )

    /// Rows of the items `a` and `b`.
    private static let rows = (1...2).map { position in
        let layout = SubscriptionLayout(
            itemNames: ["a", "b"],
            fieldNames: ["key", "command"],
            fieldCount: 2,
            keyPosition: 1,
            commandPosition: 2
        )
        let changed = FieldSet(all: 2)
        return SubscriptionEvent.update(
            ItemUpdate(layout: layout, itemPos: position, isSnapshot: true, values: ["k", "ADD"], changed: changed)
        )
    }

    /// The server sends an end of the snapshot for none of the items.
    @Test func rowsAreSentAtTheEndOfTheWaitIfTheSnapshotHasNoEnd() {
        _ = fixture.perform("GET", Self.table, "", ["Prefer": "wait=0"])
        publish(Self.tableSubscribed, Self.rows[0])
        let some = fixture.perform("GET", Self.table, "", ["Prefer": "wait=0"])
        #expect(some.status == 504)
        #expect(some.json["detail"]?.string?.contains("no values for 1 item within") == true)
        #expect(some.json["items"]?.array?.map { $0["item"]?.string } == ["a"])
        publish(Self.rows[1])
        let all = fixture.perform("GET", Self.table, "", ["Prefer": "wait=0"])
        #expect(all.status == 200)
        #expect(all.json["items"]?.array?.compactMap { $0["keys"]?["k"]?["command"]?.string } == ["ADD", "ADD"])
    }

    /// An item without rows whose snapshot has ended lacks nothing.
    @Test func itemsWithAnEmptySnapshotAreNotMissing() {
        _ = fixture.perform("GET", Self.table, "", ["Prefer": "wait=0"])
        publish(Self.tableSubscribed, .endOfSnapshot(itemPos: 1))
        let response = fixture.perform("GET", Self.table, "", ["Prefer": "wait=0"])
        #expect(response.json["detail"]?.string?.contains("no values for 1 item within") == true)
    }

    @Test func theEndOfTheGatewayIsNoEndOfTheWait() async {
        let response = await awaited(Self.quote, ["Prefer": "wait=20"]) { fixture.host.stopAccepting() }
        #expect(response.status == 503)
        #expect(response.code == "unavailable")
        #expect(response.headers["Retry-After"] != nil)
        #expect(response.headers["Preference-Applied"] == nil)
    }

    /// Returns after the work of the background queue so far.
    private func passBackground() {
        let done = DispatchSemaphore(value: 0)
        #expect(fixture.services.background.medium.add { done.signal() })
        done.wait()
    }

    @Test func itemsThatWereThereBeforeTheSubscriptionBeganAgainAreAwaited() async {
        let subscribed = SubscriptionEvent.subscribed(
            itemCount: 2,
            fieldCount: 2,
            keyPosition: nil,
            commandPosition: nil
        )
        let response = await awaited("/v1/values?items=a,b&fields=x,y") {
            publish(subscribed, update(["1", "2"]))
            passBackground()
            let gate = DispatchSemaphore(value: 0)
            #expect(fixture.services.background.medium.add { gate.wait() })
            // The request examines the values once, after the three events.
            publish(.unsubscribed(isFinal: false), subscribed, update(["3", "4"], item: 2))
            gate.signal()
            passBackground()
            publish(update(["5", "6"]))
        }
        let items = response.json["items"]?.array ?? []
        #expect(items.map { $0["fields"]?["x"]?.string } == ["5", "3"])
    }

    @Test func subscriptionIsLeftAlsoAfterAFailure() {
        _ = fixture.perform("GET", Self.quote, "", ["Prefer": "wait=0"])
        // A second holder would prevent the end of the linger.
        #expect(fixture.services.pool.state.withLock { $0.machine.shared.values.allSatisfy { $0.users == 0 } })
    }

    @Test func equalTagIsNotModifiedAndChangesEndALongPoll() async throws {
        let first = await awaited(Self.quote) { publish(Self.subscribed, update(["1", "2"])) }
        let tag = try #require(first.headers["ETag"])
        let known = fixture.perform("GET", Self.quote, "", ["If-None-Match": tag])
        // A 304 describes no content (RFC 9110 section 15.4.5).
        #expect(known.status == 304 && known.headers["Content-Type"] == nil)
        #expect(known.headers["ETag"] == tag && known.headers["Link"] != nil)
        let changed = await awaited(Self.quote, ["If-None-Match": tag, "Prefer": "wait=20"]) {
            publish(update(["1", "3"]))
        }
        #expect(changed.status == 200)
        #expect(changed.headers["ETag"] != tag)
        #expect(changed.headers["Preference-Applied"] == "wait=20")
    }

    @Test func ifMatchIsEvaluatedBeforeALongPollWaits() async throws {
        let first = await awaited(Self.quote) { publish(Self.subscribed, update(["1", "2"])) }
        let tag = try #require(first.headers["ETag"])
        for headers in [[:], ["If-None-Match": tag], ["If-None-Match": tag, "Prefer": "wait=20"]] {
            let all = headers.merging(["If-Match": "\"x\""]) { $1 }
            let refused = fixture.perform("GET", Self.quote, "", all)
            #expect(refused.status == 412)
            #expect(refused.headers["ETag"] == tag)
        }
        #expect(fixture.perform("GET", Self.quote, "", ["If-Match": "*"]).status == 200)
    }

    @Test func nullAndEmptyTextHaveDifferentTags() async throws {
        let target = "/v1/values?items=a&fields=x&format=text"
        let null = await awaited(target) { publish(Self.subscribed, update([nil])) }
        publish(update([""]))
        let tag = try #require(null.headers["ETag"])
        #expect(null.status == 204)
        #expect(fixture.perform("GET", target, "", ["If-None-Match": tag]).status == 200)
    }

    @Test func changeOfTheConnectionEndsALongPoll() async throws {
        let first = await awaited(Self.quote) { publish(Self.subscribed, update(["1", "2"])) }
        let tag = try #require(first.headers["ETag"])
        let client = try #require(fixture.services.pool.resources().last?.client)
        var changes: Task<Void, Never>?
        let changed = await awaited(Self.quote, ["If-None-Match": tag, "Prefer": "wait=20"]) { [hub = fixture.hub] in
            // Again and again, because the client without a server reports its status as well.
            changes = Task {
                while !Task.isCancelled {
                    hub.take(.client(client.id, .event(.status(.connectedWSStreaming, failure: nil))))
                    await Task.yield()
                }
            }
        }
        changes?.cancel()
        #expect(changed.status == 200)
        #expect(changed.json["items"]?.array?.first?["stale"] == false)
    }

    @Test func cursorWaitsForOtherValues() async throws {
        let first = await awaited(Self.quote) { publish(Self.subscribed, update(["1", "2"])) }
        let link = try #require(first.headers["Link"])
        let next = String(link.drop { $0 != "/" }.prefix { $0 != ">" })
        #expect(next.hasPrefix("/v1/values?fields=x%2Cy&items=a&cursor="))
        let changed = await awaited(next) { publish(update(["1", "3"])) }
        #expect(changed.json["items"]?.array?.first?["fields"]?["y"]?.string == "3")
    }

    @Test func queriesThatMeanTheSameHaveOneNextURL() async {
        let first = await awaited(Self.quote) { publish(Self.subscribed, update(["1", "2"])) }
        let other = fixture.perform("GET", "/v1/values?fields=x,y&items=a")
        #expect(first.headers["Link"] == other.headers["Link"])
    }

    /// The next values have the same columns, and are those of the same subscription.
    @Test func nextURLHasItsColumnsInTheirOrder() async throws {
        let response = await awaited("/v1/values?item=a&fields=y&field=x") {
            publish(Self.subscribed, update(["1", "2"]))
        }
        #expect(response.headers["Link"]?.hasPrefix("</v1/values?fields=y&field=x&item=a&cursor=") == true)
        let query = try Query(raw: "items=b&fields=x&item=a&field=w")
        #expect(query.canonical(before: "cursor") == "fields=x&field=w&items=b&item=a&cursor=")
    }

    /// A response whose head has no room beside that of the request is never sent. Commas are three times as long in the link.
    @Test(arguments: [(4_000, 0, true), (8_000, 0, false), (5_000, 1_000, true), (5_000, 10_000, false)])
    func nextURLIsNotNamedIfItIsTooLong(commas: Int, header: Int, isNamed: Bool) async {
        let target = Self.quote + "&dataAdapter=" + String(repeating: ",", count: commas)
        let headers = ["X-Padding": String(repeating: "x", count: header)]
        let response = await awaited(target, headers) { publish(Self.subscribed, update(["1", "2"])) }
        #expect(response.status == 200)
        #expect((response.headers["Link"] != nil) == isNamed)
        // An equal request, which is answered as this one.
        #expect((fixture.perform("GET", target, "", headers).headers["Link"] != nil) == isNamed)
    }

    @Test(arguments: [
        ("item=5&field=x%20y", ["item", "field"]), ("items=a,5&item=b&fields=x&field=", ["items", "field"]),
        ("items=a&item=5&fields=x", ["item"]),
    ])
    func badNameIsReportedForTheParameterThatHasIt(query: String, parameters: [String]) {
        #expect(fixture.perform("GET", "/v1/values?" + query).pointers == parameters)
    }

    @Test func modesAreReadInAnyLetterCase() {
        let response = fixture.perform("GET", "/v1/values?mode=distinct&items=a&fields=x", "", ["Prefer": "wait=0"])
        #expect(response.status == 504)
        #expect(fixture.services.pool.resources().last?.properties.mode == .distinct)
    }

    @Test func defaultUpstreamIsTheOnlyOneOrTheMarkedOne() {
        let several = Fixture(upstreams: ["one", "two"])
        #expect(several.perform("GET", Self.quote).pointers == ["upstream"])
        let marked = Fixture(upstreams: ["one", "two"]) { $0.pool.upstreams[1].isDefault = true }
        #expect(marked.perform("GET", Self.quote, "", ["Prefer": "wait=0"]).status == 504)
        #expect(marked.services.pool.figures(of: "two").subscriptions == 1)
    }

    @Test func valuesArePublicOnlyWhereTheConfigurationPermits() async {
        let cached = Fixture { $0.values.maxAge = 1 }
        let response = cached.perform("GET", Self.quote, "", ["Prefer": "wait=0"])
        #expect(response.headers["Cache-Control"] == "no-store")
        let policy = CachePolicy(cached.services.configuration.values, for: Caller())
        #expect(policy.header == "public, max-age=1, stale-while-revalidate=5")
        #expect(policy.headerAfterCursor == "public, max-age=6")
        var known = Caller()
        known.identity = "key"
        #expect(CachePolicy(cached.services.configuration.values, for: known).header == "no-cache")
        #expect(CachePolicy(ValuesConfiguration(), for: Caller()).header == "no-cache")
    }
}
