internal import Changes

/// The TypeScript types of feeds, for `/assets/feeds.d.ts`.
enum FeedTypes {
    static func declarations(_ feeds: [FeedConfiguration]) -> String {
        var text = """
            // The feeds of this gateway. GET /v1/feeds describes them.

            /** An update of a feed in a stream: the changed fields by their types, and the names of those whose values are not of
                their types and are therefore strings. */
            export interface FeedUpdate<Row> {
              subscription: string;
              client: string | null;
              item: string | null;
              itemPos: number;
              snapshot: boolean;
              fields: Partial<Row>;
              invalid?: (keyof Row)[];
              /** JSON Patches by field. */
              patches?: { [Field in keyof Row]?: object[] };
              conflated?: number;
              /** With fieldsSent=all. */
              values?: Row;
              /** In COMMAND mode. */
              key?: string | null;
              command?: string | null;
            }


            """
        let types = feeds.typeNames
        for (feed, name) in zip(feeds, types) {
            text += comment(feed.description ?? feed.title, indent: "")
            text += "export interface \(name)Row {\n"
            for field in feed.fields {
                let words = [field.description, field.unit.map { "Unit: \($0)." }].compactMap(\.self)
                text += comment(words.isEmpty ? nil : words.joined(separator: " "), indent: "  ")
                text += "  \(key(field.name)): \(type(field.type));\n"
            }
            text += "}\n\n"
        }
        text += "/** The rows of the feeds by their names. */\nexport interface FeedRows {\n"
        for (feed, name) in zip(feeds, types) { text += "  \(key(feed.name)): \(name)Row;\n" }
        return text + "}\n"
    }

    private static func comment(_ text: String?, indent: String) -> String {
        text.map { "\(indent)/** \($0.replacing("*/", with: "* /").replacing("\n", with: " ")) */\n" } ?? ""
    }

    /// The type of a value, which is a string where it is not of its type, and may be null.
    private static func type(_ type: FieldType) -> String {
        switch type {
        case .number, .integer: "number | string | null"
        case .boolean: "boolean | string | null"
        case .string, .timestampMilliseconds, .timestampSeconds: "string | null"
        case .json: "unknown"
        }
    }

    private static func key(_ name: String) -> String {
        let isPlain = name.isLettersDigits(and: "_", length: 0...Int.max) && name.first?.isNumber != true
        return isPlain ? name : "\"\(name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}

extension [FeedConfiguration] {
    /// The beginnings of the names of the types and operations of each feed: that of its name, with a number where an earlier
    /// feed, or the contract, has such a name. Generators make files of the names, so that letter case does not count.
    var typeNames: [String] {
        // `readFeed`, `readFeedItem`, `readFeedValue` and `readValues` are operations of openapi.yaml.
        var taken: Set<String> = ["feed", "feeditem", "feedvalue", "values"]
        return map { feed in
            let plain = feed.typeName
            var (name, number) = (plain, 2)
            while !taken.isDisjoint(with: [name.lowercased(), "\(name.lowercased())item"]) {
                (name, number) = ("\(plain)\(number)", number + 1)
            }
            taken.formUnion([name.lowercased(), "\(name.lowercased())item"])
            return name
        }
    }
}

extension FeedConfiguration {
    /// The name as the beginning of the names of types: letters and digits, words with capital letters.
    fileprivate var typeName: String {
        let words = name.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let text = words.joined()
        return text.first?.isNumber == false ? text : "Feed" + text
    }
}
