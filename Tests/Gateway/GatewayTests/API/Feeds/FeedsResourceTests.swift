import Changes
import Dispatch
import JSONText
import MicroHTTPD
import SessionCore
import SessionPool
import Testing

@testable import Gateway

@Suite struct FeedsResourceTests {
    private static func feeds(_ configuration: inout GatewayConfiguration) {
        var quotes = FeedConfiguration(name: "quotes")
        quotes.title = "Quotes"
        quotes.items = [FeedItem("item{1…2}")].compactMap { $0 }
        quotes.fields = [FeedField("name", "string"), FeedField("price", "number EUR, Last price")].compactMap { $0 }
        var any = FeedConfiguration(name: "any")
        any.mode = .command
        any.fields = [FeedField("key", "string"), FeedField("command", "string"), FeedField("qty", "integer")]
            .compactMap { $0 }
        configuration.feeds = [quotes, any]
    }

    private let fixture = Fixture(configure: Self.feeds)

    @Test(arguments: [RequestedMaxFrequency.limited(0.000_01), .limited(2.5), .limited(1e9), .unlimited, .unfiltered])
    func subscriptionsOfAFeedHaveItsFrequency(frequency: RequestedMaxFrequency) throws {
        let fixture = Fixture {
            Self.feeds(&$0)
            $0.feeds[0].maxFrequency = frequency
        }
        let made = fixture.perform("POST", "/v1/subscriptions", #"{"feed":"quotes","active":false}"#)
        #expect(made.status == 201)
        let resource = try #require(fixture.services.pool.resources().last)
        #expect(resource.properties.requestedMaxFrequency == frequency)
    }

    /// Whoever names the members of a feed instead of the feed joins the same subscription.
    @Test func feedsTellTheSnapshotAndFrequencyOfTheirSubscriptions() {
        let fixture = Fixture {
            Self.feeds(&$0)
            $0.feeds[0].snapshot = .no
            $0.feeds[0].maxFrequency = .limited(2)
        }
        let feed = fixture.perform("GET", "/v1/feeds/quotes").json
        #expect(feed["requestedSnapshot"]?.string == "no")
        #expect(feed["requestedMaxFrequency"]?.number?.intValue == 2)
        #expect(fixture.perform("GET", "/v1/feeds/any").json["requestedSnapshot"] == .null)
    }

    /// Without advice, a caller had to find the other operation in the documentation.
    @Test(arguments: [
        ("GET", "/feeds/quotes?items=item1", "GET /v1/values and GET /v1/stream take it, with feed=NAME."),
        ("GET", "/feeds/quotes/item1?fields=last_price", "GET /v1/values and GET /v1/stream take it, with feed=NAME."),
        ("GET", "/feeds/quotes?maxFrequency=1", "GET /v1/stream takes it, with feed=NAME."),
        ("GET", "/feeds/quotes?cursors=a", "Did you mean cursor?"),
        ("GET", "/v1/values?feed=quotes&wait=5", "Operations that wait take it as a header: Prefer: wait=SECONDS."),
        ("POST", "/v1/messages?wait=5", "Operations that wait take it as a header: Prefer: wait=SECONDS."),
        ("GET", "/v1/streams?items=a", ""),
    ])
    func anUnknownParameterOfAnotherOperationIsExplained(method: String, target: String, advice: String) {
        let response = fixture.perform(method, target, method == "POST" ? #"{"text":"a"}"# : "")
        #expect(response.status == 422)
        let detail = response.json["errors"]?.array?.first?["detail"]?.string
        #expect(detail == ["This operation has no such parameter.", advice].filter { $0 != "" }.joined(separator: " "))
    }

    @Test func aWaitInTheBodyIsExplained() {
        let response = fixture.perform("POST", "/v1/messages", #"{"text":"a","wait":5}"#)
        #expect(response.status == 422)
        let detail = response.json["errors"]?.array?.first?["detail"]?.string
        #expect(detail == "There is no such member. Operations that wait take it as a header: Prefer: wait=SECONDS.")
    }

    @Test func eachUnknownNameHasItsPlace() {
        let lists = #""feed":"quotes","items":["item1","x","y"],"fields":["z"]"#
        let made = fixture.perform("POST", "/v1/streams", "{\(lists)}")
        #expect(made.status == 404)
        #expect(made.pointers == ["/items/1", "/items/2", "/fields/0"])
        let several = fixture.perform("POST", "/v1/streams", #"{"sources":[{"feed":"any","items":["p"]},{\#(lists)}]}"#)
        #expect(several.pointers == ["/sources/1/items/1", "/sources/1/items/2", "/sources/1/fields/0"])
        let query = fixture.perform("GET", "/v1/values?feed=quotes&items=item1&item=x&fields=z")
        #expect(query.pointers == ["item", "fields"])
    }

    /// A dedicated client may be one of another server than that of the feed.
    @Test func subscriptionsOfAFeedBelongToNoDedicatedClient() {
        let body = #"{"feed":"quotes","client":"c","active":false}"#
        let refused = fixture.perform("POST", "/v1/subscriptions", body)
        #expect(refused.status == 422)
        #expect(refused.pointers == ["/client"])
    }

    private func publish(_ events: [SubscriptionEvent]) {
        let shared = fixture.services.pool.resources().last?.id.rawValue ?? ""
        for event in events { fixture.hub.take(.subscription(SubscriptionID(shared), .event(event))) }
    }

    /// The response to a request after events of its subscription.
    private func response(_ target: String, _ events: [SubscriptionEvent]) async -> Fixture.Outcome {
        let (responses, source) = AsyncStream.makeStream(of: HTTPResponse.self)
        let outcome = fixture.perform("GET", target) { source.yield($0) }
        guard outcome.isWaiting else { return outcome }
        publish(events)
        for await response in responses { return Fixture.outcome(response) }
        return outcome
    }

    private func quote(_ item: Int, of count: Int, _ values: [String?], fields: [String] = ["name", "price"])
        -> SubscriptionEvent
    {
        let items = (1...count).map { "item\($0)" }
        let layout = SubscriptionLayout(itemNames: items, fieldNames: fields, fieldCount: fields.count)
        return .update(
            ItemUpdate(
                layout: layout,
                itemPos: item,
                isSnapshot: true,
                values: values,
                changed: FieldSet(all: values.count)
            )
        )
    }

    private func subscribed(items: Int, fields: Int) -> SubscriptionEvent {
        .subscribed(itemCount: items, fieldCount: fields, keyPosition: nil, commandPosition: nil)
    }

    @Test func rowsHaveTheTypesOfTheFeed() async {
        let events = [subscribed(items: 1, fields: 2), quote(1, of: 1, ["Alder & Pike", "23.910"])]
        let row = await response("/feeds/quotes/item1", events)
        #expect(row.text == #"{"name":"Alder & Pike","price":23.910}"# + "\n")
    }

    @Test func oneValueIsBare() async {
        let events = [subscribed(items: 1, fields: 1), quote(1, of: 1, ["23.91"], fields: ["price"])]
        #expect(await response("/feeds/quotes/item1/price", events).text == "23.91\n")
        #expect(fixture.perform("GET", "/feeds/quotes/item1/price", "", ["Accept": "text/plain"]).text == "23.91")
    }

    @Test func allItemsAreAnObjectOfRows() async {
        let events = [
            subscribed(items: 2, fields: 2), quote(1, of: 2, ["a", "1"]), quote(2, of: 2, [nil, "x"]),
        ]
        let table = await response("/feeds/quotes", events)
        #expect(table.text == #"{"item1":{"name":"a","price":1},"item2":{"name":null,"price":"x"}}"# + "\n")
    }

    @Test func valuesOfAnotherTypeAreToldAndGivenAsText() async {
        let events = [subscribed(items: 1, fields: 2), quote(1, of: 1, ["a", "n/a"])]
        let values = await response("/v1/values?feed=quotes&items=item1", events)
        let item = values.json["items"]?.array?.first
        #expect(values.json["feed"]?.string == "quotes")
        #expect(item?["fields"]?["price"]?.string == "n/a")
        #expect(item?["invalid"]?.array?.compactMap(\.string) == ["price"])
    }

    @Test func feedSharesTheSubscriptionThatOthersSpellOut() async {
        let events = [subscribed(items: 1, fields: 2), quote(1, of: 1, ["a", "1"])]
        _ = await response("/feeds/quotes/item1", events)
        #expect(fixture.perform("GET", "/v1/values?items=item1&fields=name,price").status == 200)
        #expect(fixture.services.pool.resources().count == 1)
    }

    @Test func rowsOfACommandItemAreFoundByTheirKeys() async {
        let names = ["key", "command", "qty"]
        let layout = SubscriptionLayout(
            itemNames: ["p"],
            fieldNames: names,
            fieldCount: 3,
            keyPosition: 1,
            commandPosition: 2
        )
        let updates = [["k", "ADD", "7"], ["l", "ADD", "8"]].map { values in
            SubscriptionEvent.update(
                ItemUpdate(
                    layout: layout,
                    itemPos: 1,
                    isSnapshot: true,
                    values: values,
                    changed: FieldSet(all: 3)
                )
            )
        }
        let events =
            [SubscriptionEvent.subscribed(itemCount: 1, fieldCount: 3, keyPosition: 1, commandPosition: 2)]
            + updates + [.endOfSnapshot(itemPos: 1)]
        let rows = await response("/feeds/any/p", events)
        #expect(rows.json["k"]?["qty"]?.number?.intValue == 7)
        #expect(fixture.perform("GET", "/feeds/any/p/k").json["qty"]?.number?.intValue == 7)
        #expect(fixture.perform("GET", "/feeds/any/p/none").text == "null\n")
        #expect(fixture.perform("GET", "/feeds/any/p/l?format=text").text == "l\tADD\t8\n")
        #expect(fixture.perform("GET", "/feeds/any/p/l?format=csv").text == "item,key,command,qty\r\np,l,ADD,8\r\n")
        let line = fixture.perform("GET", "/feeds/any/p/l?format=ndjson").text
        #expect(line.hasPrefix(#"{"item":"p","itemPos":1,"key":"l","#) && line.filter(\.isNewline).count == 1)
        #expect(fixture.perform("GET", "/feeds/any/p/none?format=text").status == 204)
    }

    @Test(arguments: [
        ("/feeds/none", "unknown-feed"), ("/v1/feeds/none", "unknown-feed"), ("/feeds/quotes/item3", "unknown-item"),
        ("/feeds/quotes/item1/none", "unknown-field"), ("/feeds/any", "unknown-item"),
        ("/v1/values?feed=none", "unknown-feed"), ("/v1/values?feed=quotes&items=item9", "unknown-item"),
        ("/v1/values?feed=quotes&fields=none", "unknown-field"), ("/v1/values?feed=quotes&mode=RAW", "invalid-value"),
    ])
    func unknownPartsAreRefused(target: String, code: String) {
        #expect(fixture.perform("GET", target).code == code)
    }

    @Test(arguments: [
        ("/feeds/quote", "Did you mean quotes?"), ("/v1/feeds/Quotes", "Did you mean quotes?"),
        ("/v1/values?feed=quote", "Did you mean quotes?"), ("/feeds/quotes/item1/prise", "Did you mean price?"),
        ("/v1/values?feed=quotes&items=item1&fields=pricee", "Did you mean price?"),
        ("/v1/values?feed=quotes&items=item3", "The feed has no item \"item3\"."),
    ])
    func similarNamesAreSuggested(target: String, ending: String) {
        #expect(fixture.perform("GET", target).json["detail"]?.string?.hasSuffix(ending) == true)
    }

    @Test func refusedFormsOfShortURLsAreToldTheStream() {
        let type = fixture.perform("GET", "/feeds/quotes/item1", "", ["Accept": "image/png"])
        #expect(type.status == 406 && type.json["detail"]?.string?.hasSuffix("x-ndjson, text/event-stream.") == true)
        let format = fixture.perform("GET", "/feeds/quotes/item1?format=xml")
        #expect(format.status == 422 && format.json["detail"]?.string?.contains("ndjson, sse is expected") == true)
        let values = fixture.perform("GET", "/v1/values?feed=quotes&format=sse")
        #expect(values.status == 422 && values.json["detail"]?.string?.contains("ndjson is expected") == true)
    }

    @Test func shortURLsAreStreamsForEventSources() {
        let stream = fixture.perform("GET", "/feeds/quotes/item1", "", ["Accept": "text/event-stream"])
        #expect(stream.isStream)
        let json = ["Accept": "application/json, text/event-stream;q=0.1"]
        #expect(!fixture.perform("GET", "/feeds/quotes/item1", "", json).isStream)
        #expect(fixture.perform("GET", "/v1/stream?feed=quotes").isStream)
        #expect(fixture.perform("POST", "/v1/streams", #"{"feed":"quotes","fields":["price"]}"#).status == 201)
        let posted = fixture.perform("POST", "/v1/subscriptions", #"{"feed":"quotes","active":false}"#)
        #expect(posted.json["items"]?.array?.compactMap(\.string) == ["item1", "item2"])
    }

    /// The stream of a COMMAND item has all of its keys.
    @Test func keysOfAnItemHaveNoStreamOfTheirOwn() {
        let format = fixture.perform("GET", "/feeds/any/p/k?format=sse")
        #expect(format.status == 422 && format.pointers == ["format"])
        let type = fixture.perform("GET", "/feeds/any/p/k", "", ["Accept": "text/event-stream"])
        #expect(type.status == 406 && type.json["detail"]?.string?.hasPrefix("A stream has all keys") == true)
        #expect(fixture.perform("GET", "/feeds/any/p?format=sse").isStream)
    }

    @Test(arguments: [
        ("/v1/stream?feed=quotes&items=item1", #""price":1.50"#), ("/feeds/quotes/item1?format=sse", #""price":1.50"#),
        ("/v1/stream?items=item1&fields=name,price", #""price":"1.50""#),
    ])
    func streamsThatNameAFeedHaveTheTypesOfItsFields(target: String, value: String) {
        #expect(events(target).contains(value))
    }

    /// The query has the same effect as the header: an unknown id is a gap.
    @Test(arguments: ["/feeds/quotes", "/feeds/quotes/item1", "/feeds/quotes/item1/price"])
    func streamsOfShortURLsResumeByTheirQuery(target: String) {
        #expect(events(target + "?format=sse").contains(#""resume":"fresh""#))
        #expect(events(target + "?format=sse&lastEventId=x-1").contains(#""resume":"gap""#))
    }

    /// A value without an effect in a read, as `cursor` in a stream, is refused.
    @Test(arguments: ["/feeds/quotes", "/feeds/quotes/item1", "/feeds/quotes/item1/price", "/feeds/any/p/k"])
    func readsOfShortURLsTakeNoLastEvent(target: String) {
        for query in ["?lastEventId=x-1", "?format=json&lastEventId=", "?lastEventId=x-1&lastEventId=x-2"] {
            let read = fixture.perform("GET", target + query)
            #expect(read.status == 422 && read.pointers == ["lastEventId"])
        }
    }

    @Test func preparedStreamsThatNameAFeedAreTyped() {
        let body = #"{"sources":[{"feed":"quotes","items":["item1"]}]}"#
        let id = fixture.perform("POST", "/v1/streams", body).json["id"]?.string ?? ""
        #expect(events("/v1/streams/\(id)/events").contains(#""price":1.50"#))
    }

    @Test func sourcesWithoutAFeedAreTextBesideThoseOfAFeed() {
        let text = #"{"items":["item2"],"fields":["name","price"]}"#
        let feed = #"{"feed":"quotes","items":["item1"]}"#
        let id = fixture.perform("POST", "/v1/streams", #"{"sources":[\#(text),\#(feed)]}"#).json["id"]?.string ?? ""
        let both = events("/v1/streams/\(id)/events")
        #expect(both.contains(#""price":1.50"#))
        #expect(both.contains(#""price":"1.50""#))
    }

    @Test(arguments: [#"{"feed":"quotes","items":["item2"]}"#, #"{"items":["item2"],"fields":["name","price"]}"#])
    func sourceThatIsAddedToAPreparedStreamHasItsOwnForm(source: String) {
        let isTyped = source.contains("feed")
        let first =
            isTyped ? #"{"items":["item1"],"fields":["name","price"]}"# : #"{"feed":"quotes","items":["item1"]}"#
        let id = fixture.perform("POST", "/v1/streams", first).json["id"]?.string ?? ""
        let patched = fixture.perform("PATCH", "/v1/streams/\(id)", #"{"add":[\#(source)]}"#)
        #expect(patched.status == 200)
        let both = events("/v1/streams/\(id)/events")
        #expect(both.contains(#""price":1.50"#))
        #expect(both.contains(#""price":"1.50""#))
    }

    private func events(_ target: String) -> String {
        fixture.events(target) { id in
            fixture.hub.take(.subscription(id, .carried(by: "c")))
            for event in [subscribed(items: 1, fields: 2), quote(1, of: 1, ["a", "1.50"])] {
                fixture.hub.take(.subscription(id, .event(event)))
            }
        }
    }

    @Test func contractHasAnOperationAndATitledSchemaForEachFeed() throws {
        let document = services.feedContract.document(services.openFeeds)
        let root = try JSONValue(parsing: document.bytes.array)
        #expect(root["paths"]?["/feeds/quotes/{item}"]?["get"]?["operationId"]?.string == "readQuotesItem")
        #expect(root["paths"]?["/feeds/quotes"] != nil)
        #expect(root["paths"]?["/feeds/any"] == nil)
        #expect(root["components"]?["schemas"]?["QuotesRow"]?["title"]?.string == "Quotes: row")
        #expect(root["paths"]?["/v1/values"] != nil)
    }

    /// The operations of a feed hide those of any feed, and answer as these do.
    @Test(arguments: ["", "/{item}"])
    func operationsOfAFeedDescribeAllResponses(rest: String) throws {
        let root = try JSONValue(parsing: services.feedContract.document(services.openFeeds).bytes.array)
        let own = try #require(root["paths"]?["/feeds/quotes" + rest]?["get"])
        let general = try #require(root["paths"]?["/feeds/{feed}" + rest]?["get"])
        for member in ["parameters", "security", "tags"] { #expect(own[member] == general[member], "\(member)") }
        let responses = try #require(own["responses"]?.object)
        #expect(responses.map(\.name) == general["responses"]?.object?.map(\.name))
        for response in responses where response.name != "200" {
            #expect(response.value == general["responses"]?[response.name], "\(response.name)")
        }
        let values = general["responses"]?["200"]
        #expect(responses["200"]?["headers"] == values?["headers"])
        let content = try #require(responses["200"]?["content"]?.object)
        #expect(content.map(\.name) == values?["content"]?.object?.map(\.name))
        #expect(content.allSatisfy { $0.value["schema"] != nil && $0.value["examples"] == nil })
    }

    @Test func feedsOfSimilarNamesHaveTypesAndOperationsOfTheirOwn() throws {
        let feeds = ["quotes", "feed", "values", "a", "a-item", "b-c", "bC", "1"].map { name in
            var feed = FeedConfiguration(name: name)
            feed.items = [FeedItem("item1")].compactMap(\.self)
            return feed
        }
        #expect(feeds.typeNames == ["Quotes", "Feed2", "Values2", "A", "AItem2", "BC", "BC2", "Feed1"])
        let root = try JSONValue(parsing: FeedContract().document(feeds).bytes.array)
        let operations = try #require(root["paths"]?.object).flatMap { path in
            (path.value.object ?? JSONObject()).compactMap { $0.value["operationId"]?.string?.lowercased() }
        }
        #expect(Set(operations).count == operations.count)
        #expect(root["components"]?["schemas"]?["AItem2Row"]?["title"]?.string == "a-item: row")
        #expect(FeedTypes.declarations(feeds).contains("  \"b-c\": BCRow;\n  bC: BC2Row;\n"))
    }

    /// Each member that the JSON Schema of an event has.
    @Test func typesOfUpdatesHaveAllMembersOfTheEvent() throws {
        var feed = FeedConfiguration(name: "rows")
        feed.mode = .command
        let schema = FeedView(feed: feed, upstream: nil).eventSchema(isDocument: false)
        let members = try #require(schema["properties"]?.object)
        let types = FeedTypes.declarations([feed])
        for member in members {
            #expect(types.contains("  \(member.name): ") || types.contains("  \(member.name)?: "), "\(member.name)")
        }
    }

    /// The value of `GET /feeds/{feed}`: in COMMAND mode, each item has a row for each of its keys.
    @Test(arguments: [SubscriptionMode.merge, .command])
    func schemaOfAllItemsHasTheRowsOfEachItem(mode: SubscriptionMode) throws {
        var feed = FeedConfiguration(name: "f")
        feed.mode = mode
        feed.items = [FeedItem("item1")].compactMap(\.self)
        let root = try JSONValue(parsing: FeedContract().document([feed]).bytes.array)
        func schema(_ path: String) -> JSONValue? {
            root["paths"]?[path]?["get"]?["responses"]?["200"]?["content"]?["application/json"]?["schema"]
        }
        let item = try #require(schema("/feeds/f/{item}"))
        #expect(schema("/feeds/f")?["additionalProperties"] == item)
        let row: JSONValue = ["$ref": "#/components/schemas/FRow"]
        #expect(mode == .command ? item["additionalProperties"] == row : item == row)
    }

    @Test(arguments: ["/openapi.json", "/openapi-3.2.json"])
    func contractWithFeedsIsMadeOnceAndInTheBackground(path: String) async {
        #expect(!ContractJSON.document.bytes.bytes.isEmpty)
        let gate = DispatchSemaphore(value: 0)
        let isBusy = services.background.large.add { gate.wait() }
        let (statuses, source) = AsyncStream.makeStream(of: Int.self)
        let outcome = fixture.perform("GET", path) { source.yield($0.status) }
        #expect(isBusy && outcome.isWaiting)
        gate.signal()
        for await status in statuses.prefix(1) { #expect(status == 200) }
        #expect(fixture.perform("GET", path).status == 200)
    }

    @Test func contractOfOpenAPI32DescribesTheEventsOfStreams() throws {
        let document = services.feedContract.document(services.openFeeds, .streams)
        let root = try JSONValue(parsing: document.bytes.array)
        #expect(root["openapi"]?.string == "3.2.0")
        let content = root["components"]?["responses"]?["EventStream"]?["content"]
        #expect(
            content?["text/event-stream"]?["itemSchema"]?["$ref"]?.string == "#/components/schemas/ServerSentEvent"
        )
        #expect(content?["application/x-ndjson"]?["itemSchema"]?["$ref"]?.string == "#/components/schemas/StreamEvent")
        #expect(content?["text/event-stream"]?["schema"] == nil)
        #expect(!root.text.contains("x-item-schema"))
    }

    @Test func feedHasASchemaOfItsEvents() {
        let schema = fixture.perform("GET", "/v1/feeds/quotes").json["eventSchema"]
        #expect(schema?["properties"]?["fields"]?["properties"]?["price"]?["type"]?.array?.first?.string == "number")
        #expect(schema?["properties"]?["fields"]?["required"] == nil)
        #expect(schema?["properties"]?["invalid"]?["items"]?["enum"]?.text == #"["name","price"]"#)
        #expect(schema?["properties"]?["key"] == nil)
        let command = fixture.perform("GET", "/v1/feeds/any").json["eventSchema"]
        #expect(command?["properties"]?["key"] != nil)
    }

    /// A value that is not of its type is a string without its format.
    @Test func schemaOfATimeAdmitsOtherTexts() throws {
        let fixture = Fixture {
            Self.feeds(&$0)
            $0.feeds[0].fields = [FeedField("time", "timestamp-ms")].compactMap(\.self)
        }
        let field = fixture.perform("GET", "/v1/feeds/quotes").json["schema"]?["properties"]?["time"]
        #expect(field?["anyOf"] == [["type": "string", "format": "date-time"], ["type": ["string", "null"]]])
        #expect(field?["format"] == nil)
    }

    @Test func typesOfRowsAreDeclaredForTypeScript() {
        let types = fixture.perform("GET", "/assets/feeds.d.ts")
        #expect(types.status == 200)
        let others = fixture.perform("GET", "/assets/gateway.d.ts")
        #expect(types.headers["Content-Type"] == others.headers["Content-Type"])
        #expect(types.text.contains("export interface QuotesRow {\n  name: string | null;\n"))
        #expect(types.text.contains("  /** Last price Unit: EUR. */\n  price: number | string | null;\n"))
        #expect(types.text.contains("  quotes: QuotesRow;\n"))
    }

    private var services: Services { fixture.services }

    @Test func feedDescribesItself() {
        let list = fixture.perform("GET", "/v1/feeds").json["feeds"]?.array ?? []
        #expect(list.compactMap { $0["name"]?.string } == ["quotes", "any"])
        let feed = fixture.perform("GET", "/v1/feeds/quotes").json
        #expect(feed["upstream"]?.string == "demo")
        #expect(feed["items"]?.array?.first?["pattern"]?.string == "item{1…2}")
        #expect(feed["fields"]?.array?.last?["unit"]?.string == "EUR")
        #expect(feed["schema"]?["properties"]?["price"]?["type"]?.array?.first?.string == "number")
    }
}
