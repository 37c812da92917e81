import SessionCore
import Testing

@testable import Gateway

@Suite struct FeedSettingsTests {
    private func read(_ text: String) throws -> GatewayConfiguration {
        let file = try ConfigurationFile(path: "gateway.yaml", text: text)
        var reader = ConfigurationReader(file: file, readFile: { _ in nil })
        return try reader.read()
    }

    private static let upstream = "upstreams:\n  demo: { serverAddress: 'http://127.0.0.1:1' }\n"

    /// A search through all items for each of these takes minutes.
    @Test(.timeLimit(.minutes(1))) func manyItemsOfARequestAreFoundInALongFeed() throws {
        var feed = FeedConfiguration(name: "long")
        feed.items = try ["a{1…9999}", "b{1…9999}", "c{1…9999}"].map { try #require(FeedItem($0)) }
        feed.fields = [try #require(FeedField("f", "string"))]
        let names = Array(repeating: "c9999", count: 100_000)
        #expect(feed.covers(feed.properties(items: names, fields: ["f"])))
        #expect(!feed.covers(feed.properties(items: names + ["c10000"], fields: ["f"])))
        #expect(feed.has(item: "a1") && !feed.has(item: "A1"))
        feed.items = []
        #expect(feed.has(item: "A1"))
    }

    @Test func feedIsReadWithItsFieldsInOrder() throws {
        let configuration = try read(
            Self.upstream + """
                feeds:
                  quotes:
                    title: Quotes
                    items: ['item{1…3}', 'index=The index']
                    fields:
                      stock_name: string
                      last_price: number EUR, The price of the last trade
                    snapshot: 'no'
                    maxFrequency: 2.5
                    public: true
                """
        )
        let feed = try #require(configuration.feeds.first)
        #expect(feed.itemNames == ["item1", "item2", "item3", "index"])
        #expect(feed.items.last?.description == "The index")
        #expect(feed.fieldNames == ["stock_name", "last_price"])
        #expect(feed.field("last_price")?.unit == "EUR")
        #expect(feed.field("last_price")?.description == "The price of the last trade")
        #expect(feed.snapshot == .no)
        #expect(feed.maxFrequency == .limited(2.5))
        #expect(configuration.access.hasPublicFeeds)
    }

    /// A feed with a title came before those without.
    @Test func feedsKeepTheOrderOfTheFile() throws {
        let text =
            Self.upstream + """
                feeds:
                  quotes: { fields: { a: string } }
                  news: { fields: { b: string }, title: News }
                  chat: { fields: { c: string }, mode: DISTINCT, items: room }
                """
        let names = ["quotes", "news", "chat"]
        #expect(try read(text).feeds.map(\.name) == names)
        let file = try ConfigurationFile(path: "gateway.yaml", text: text)
        let flags = [(key: "feeds.more.fields.d", value: "string"), (key: "feeds.chat.public", value: "true")]
        var reader = ConfigurationReader(flags: flags, file: file, readFile: { _ in nil })
        #expect(try reader.read().feeds.map(\.name) == names + ["more"])
    }

    @Test(arguments: [
        ("fields: { a: text }", "feeds.f.fields.a: must begin with one of"),
        ("fields: { a: string }\n    items: 'i{3…1}'", "feeds.f.items: \"i{3…1}\" must be an item"),
        ("fields: { a: string }\n    items: 'i{01…30}'", "feeds.f.items: \"i{01…30}\" must be an item"),
        ("fields: { a: string }\n    items: 'i{1…2}{3…4}'", "feeds.f.items: \"i{1…2}{3…4}\" must be an item"),
        ("fields: { a: string }\n    upstream: nothing", "feeds.f.upstream: names no configured upstream"),
        ("title: Empty", "feeds.f.fields: must have at least one field"),
        ("fields: { a: string }\n    mode: COMMAND", "feeds.f.fields: COMMAND mode needs the fields key and command."),
        ("fields: { a: string }\n    colour: red", "feeds.f.colour: is not a key of the configuration"),
    ])
    func mistakesAreNamedWithTheirKeys(member: String, mistake: String) {
        #expect {
            try read(Self.upstream + "feeds:\n  f:\n    \(member)\n")
        } throws: { "\($0)".contains(mistake) }
    }

    /// The dashboard and other readers know one form.
    @Test(arguments: ["i{8…10}b", "i{8..10}b", "i{8...10}b"])
    func rangesAreShownInOneForm(text: String) throws {
        let item = try #require(FeedItem(text + "=Some items"))
        #expect(item.pattern == "i{8…10}b" && item.names == ["i8b", "i9b", "i10b"])
        #expect(item.description == "Some items")
    }

    /// A decomposed upper-case letter behind a lower-case one ended the process.
    @Test(arguments: ["wertÄnderung", "wertA\u{308}"])
    func fieldsHaveNamesOfAnyLetters(name: String) throws {
        let feeds = try read(Self.upstream + "feeds:\n  f: { items: i, fields: { '\(name)': string } }\n").feeds
        #expect(feeds.map(\.fieldNames) == [[name]])
    }

    @Test func feedsOfTheSameItemsAgreeOnTheTypesOfTheirFields() {
        let text = """
            feeds:
              f: { items: 'i{1…3}', fields: { a: number } }
              g: { items: 'j', fields: { a: string } }
              h: { items: 'i2', fields: { a: string } }
            """
        #expect {
            try read(Self.upstream + text)
        } throws: {
            "\($0)".contains("feeds.h.fields.a: has another type in the feed f") && !"\($0)".contains("feeds.g")
        }
    }

    /// Names of other bytes are other names for the server, also if they look alike.
    @Test(arguments: ["items", "dataAdapter", "selector"])
    func feedsOfNamesThatLookAlikeHaveTypesOfTheirOwn(key: String) throws {
        let text = """
            feeds:
              f: { \(key): "caf\u{E9}", fields: { a: number } }
              g: { \(key): "cafe\u{301}", fields: { a: string } }
            """
        #expect(try read(Self.upstream + text).feeds.map(\.fields.first?.type) == [.number, .string])
    }

    @Test func eachFeedHasTheFieldsOfItsOwnKeys() throws {
        let text = """
            feeds.f.fields.b: string
            feeds:
              g: { items: i, fields: { a: number, c: string } }
              f: { items: j, fields: { a: string } }
            """
        let feeds = try read(Self.upstream + text).feeds.sorted { $0.name < $1.name }
        #expect(feeds.map(\.fieldNames) == [["b", "a"], ["a", "c"]])
    }

    @Test func onlyOneUpstreamCanBeTheDefault() {
        let text = """
            upstreams:
              a: { serverAddress: 'http://127.0.0.1:1', default: true }
              b: { serverAddress: 'http://127.0.0.1:1', default: true }
            """
        #expect { try read(text) } throws: { "\($0)".contains("upstreams.b.default: is true, as for another upstream") }
    }
}
