internal import DemoServer
internal import TLCP
internal import TestSupport

/// Decides what the feeds publish, and stores the expected values of their items.
///
/// Rows are numbered, those of the list and the events without gap, so that losses, repetitions and changes of order
/// are detected.
struct Publisher {
    /// Numbered quotes with a long text and a document, a table, a list, and events.
    static let feeds: [String: ManualFeedConfiguration] = [
        "QUOTES": ManualFeedConfiguration(
            items: ["item1", "item2", "item3"],
            fields: ["n", "text", "doc"],
            fieldDiffs: ["text": .tlcpDiff, "doc": .jsonPatch]
        ),
        "TABLE": ManualFeedConfiguration(items: ["table"], fields: ["key", "command", "n"], mode: .command),
        "LIST": ManualFeedConfiguration(items: ["list"], fields: ["n", "text"], mode: .distinct),
        "FLOW": ManualFeedConfiguration(items: ["flow"], fields: ["n"], mode: .raw),
    ]

    /// The keys of the table: three have a second level, one cannot have one, one is refused one.
    private static let keys = ["item1", "item2", "item3", "two words", "nothing"]

    /// The feeds that publish.
    var adapters: Set<String> = Set(Self.feeds.keys)
    /// When publishing ends.
    var lasts = Duration.zero
    /// The rows of the quotes, by item.
    private(set) var quotes: [String: [String?]] = [:]
    /// The rows of the table, by key, without the command.
    private(set) var table: [String: [String?]] = [:]
    /// The number of the last row of the list.
    private(set) var listNumber = 0
    /// The number of the last RAW event.
    private(set) var flowNumber = 0
    private var number = 0
    private var random: SeededGenerator
    private var text = Array("The quick brown fox jumps over the lazy dog, again and again and again, until dawn.")

    init(seed: UInt64) { random = SeededGenerator(seed: ~seed) }

    /// The next row to publish, and its feed.
    mutating func next() -> (adapter: String, order: FeedRequest) {
        number += 1
        let adapter = adapters.sorted().randomElement(using: &random) ?? ""
        switch adapter {
        case "QUOTES": return (adapter, quote())
        case "TABLE": return (adapter, row())
        case "LIST": return (adapter, entry())
        default: return ("FLOW", event())
        }
    }

    /// One more row for each item, so that every subscription receives the present state.
    mutating func round() -> [(adapter: String, order: FeedRequest)] {
        number += 1
        return [("QUOTES", quote()), ("TABLE", row()), ("LIST", entry()), ("FLOW", event())]
    }

    private mutating func entry() -> FeedRequest {
        listNumber += 1
        return .publish(item: "list", values: ["\(listNumber)", someText()])
    }

    private mutating func event() -> FeedRequest {
        flowNumber += 1
        return .publish(item: "flow", values: ["\(flowNumber)"])
    }

    private mutating func quote() -> FeedRequest {
        let item = "item\(Int.random(in: 1...3, using: &random))"
        let values = ["\(number)", someText(), document()]
        quotes[item] = values
        return .publish(item: item, values: values)
    }

    private mutating func row() -> FeedRequest {
        let key = Self.keys.randomElement(using: &random) ?? ""
        if table[key] != nil, Int.random(in: 0..<3, using: &random) == 0 {
            table[key] = nil
            return .publish(item: "table", values: [key, "DELETE", nil])
        }
        let command = table[key] == nil ? "ADD" : "UPDATE"
        table[key] = [key, "\(number)"]
        return .publish(item: "table", values: [key, command, "\(number)"])
    }

    /// A text that differs little from the last one; at times none, or an empty one.
    private mutating func someText() -> String? {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return nil
        case 1: return ""
        default:
            let index = Int.random(in: text.indices, using: &random)
            text[index] = Array("äöü€😀|%^#$,").randomElement(using: &random) ?? "x"
            return String(text)
        }
    }

    private mutating func document() -> String {
        let rows = (1...12).map { #"{"id":\#($0),"value":\#(Int.random(in: 0...3, using: &random))}"# }
        return #"{"n":\#(number),"rows":[\#(rows.joined(separator: ","))]}"#
    }
}
