internal import JSONText

/// The tools: the operations on feeds, and messages.
struct MCPTools: Sendable {
    /// The longest wait of `wait_for_change`, in seconds.
    private static let longestWait = 50
    /// The most feeds that a description lists; `list_feeds` has all of them.
    private static let mostDescribed = 30

    let reading: MCPReading

    /// The result of `tools/list`: what the caller may use, described by the feeds that it may read.
    var list: JSONValue {
        let feeds = reading.readableFeeds
        let described = feeds.prefix(Self.mostDescribed).map { Self.sentence($0) }.joined()
        let selection: [(String, JSONValue)] = [
            ("feed", ["type": "string", "enum": .array(feeds.map { .string($0.name) })]),
            ("items", Self.names("The items; all items of the feed if they are missing.")),
            ("fields", Self.names("The fields; all fields of the feed if they are missing.")),
        ]
        var tools = [
            Self.tool(
                "list_feeds",
                "Lists the feeds: named live data with their items, and the types, units and meanings of their fields.",
                [
                    ("limit", ["type": "integer", "minimum": 1, "maximum": 1000]),
                    ("cursor", ["type": "string", "description": "`nextCursor` of the page before."]),
                ]
            )
        ]
        if !feeds.isEmpty {
            tools.append(
                Self.tool(
                    "read",
                    "Reads the present values of a feed, with the age of each item in seconds and a cursor for "
                        + "wait_for_change. Feeds:\(described)",
                    selection,
                    required: ["feed"]
                )
            )
            let seconds: JSONValue = [
                "type": "integer", "minimum": 1, "maximum": .number(JSONNumber(Self.longestWait)),
            ]
            let cursor: JSONValue = ["type": "string", "description": "The cursor of the values that are known."]
            tools.append(
                Self.tool(
                    "wait_for_change",
                    "Waits until values of a feed differ from those of a cursor, or from the present ones without a "
                        + "cursor. `changed` is false if they have not within the seconds (20 if missing).",
                    selection + [("cursor", cursor), ("seconds", seconds)],
                    required: ["feed"]
                )
            )
        }
        if (try? reading.services.permissions(reading.call).check(.send)) != nil {
            tools.append(
                Self.tool(
                    "send",
                    "Sends a text message to an upstream Lightstreamer server and returns its outcome.",
                    [
                        ("text", ["type": "string"]),
                        ("upstream", ["type": "string", "description": "The default one if it is missing."]),
                        ("sequence", ["type": "string", "description": "Messages of a sequence keep their order."]),
                    ],
                    required: ["text"]
                )
            )
        }
        return ["tools": .array(tools)]
    }

    /// Calls a tool. Failures of the operation, and arguments that do not fit the schema, are results with `isError`, which
    /// the model sees and can correct; `MCPError` is thrown for a call that names no tool.
    func call(_ params: JSONObject) async throws -> JSONValue {
        let arguments = params["arguments"] ?? .object(JSONObject())
        guard let name = params["name"]?.string, let arguments = arguments.object else {
            throw MCPError.invalidParams("name must be a string, arguments an object.")
        }
        do {
            return try await perform(name, arguments)
        } catch let mistake as ArgumentMistake {
            return Self.failure(mistake.rule)
        }
    }

    /// The rule that an argument of a tool breaks.
    private struct ArgumentMistake: Error {
        let rule: String

        init(_ rule: String) { self.rule = rule }
    }

    private func perform(_ name: String, _ arguments: JSONObject) async throws -> JSONValue {
        switch name {
        case "list_feeds":
            let query = try Self.texts(["limit", "cursor"], in: arguments)
            return Self.result(try await reading.listFeeds(query))
        case "read":
            let query = try Self.selection(arguments, further: [])
            return Self.values(try await reading.read(query, wait: ValuesQuery.usualWait), isChange: nil)
        case "wait_for_change": return try await waitForChange(arguments)
        case "send":
            let query = try Self.texts(["text", "sequence", "upstream"], in: arguments)
            let members = query.filter { $0.0 != "upstream" }.map {
                JSONObject.Member(name: $0.0, value: .string($0.1))
            }
            let upstream = query.first { $0.0 == "upstream" }?.1
            return Self.result(try await reading.send(.object(JSONObject(members)), to: upstream))
        default: throw MCPError.invalidParams("There is no tool \"\(name)\".")
        }
    }

    private func waitForChange(_ arguments: JSONObject) async throws -> JSONValue {
        let query = try Self.selection(arguments, further: ["cursor", "seconds"])
        let seconds = try arguments["seconds"].map { value throws(ArgumentMistake) in
            guard let seconds = value.number?.intValue, (1...Self.longestWait).contains(seconds) else {
                throw ArgumentMistake("seconds must be 1 … \(Self.longestWait).")
            }
            return seconds
        }
        let known: String
        if let cursor = arguments["cursor"] {
            guard let cursor = cursor.string, cursor.utf8.allSatisfy(Self.isTagByte) else {
                throw ArgumentMistake("cursor must be one that read has returned.")
            }
            known = cursor
        } else {
            let present = try await reading.read(query, wait: ValuesQuery.usualWait)
            guard let cursor = present.cursor else { return Self.values(present, isChange: nil) }
            known = cursor
        }
        let response = try await reading.read(query, after: known, wait: seconds ?? 20)
        return Self.values(response, isChange: response.status != 304)
    }

    private static func isTagByte(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") }

    // MARK: - Results

    private static func values(_ response: Response, isChange: Bool?) -> JSONValue {
        guard response.status < 400 else { return result(response) }
        var members: [JSONObject.Member] = []
        if let isChange { members.append(.init(name: "changed", value: .bool(isChange))) }
        if let cursor = response.cursor { members.append(.init(name: "cursor", value: .string(cursor))) }
        if response.status == 200 { members.append(.init(name: "values", value: response.json)) }
        return result(.object(JSONObject(members)), isError: false)
    }

    private static func result(_ response: Response) -> JSONValue {
        response.status < 400
            ? result(response.json, isError: false)
            : failure(response.problemText)
    }

    private static func failure(_ text: String) -> JSONValue {
        ["content": [["type": "text", "text": .string(text)]], "isError": true]
    }

    private static func result(_ content: JSONValue, isError: Bool) -> JSONValue {
        [
            "content": [["type": "text", "text": .string(content.text)]], "structuredContent": content,
            "isError": .bool(isError),
        ]
    }

    // MARK: - Arguments

    private static func selection(_ arguments: JSONObject, further: [String]) throws(ArgumentMistake)
        -> [(String, String)]
    {
        let known = ["feed", "items", "fields"] + further
        if let member = arguments.first(where: { !known.contains($0.name) }) {
            throw ArgumentMistake("There is no argument \"\(member.name)\".")
        }
        guard let feed = arguments["feed"]?.string else { throw ArgumentMistake("feed must be a name.") }
        var query = [("feed", feed), ("format", "json")]
        for (list, single) in [("items", "item"), ("fields", "field")] {
            guard let value = arguments[list] else { continue }
            let names = value.array?.map(\.string) ?? [nil]
            guard !names.isEmpty, names.allSatisfy({ $0?.isEmpty == false }) else {
                throw ArgumentMistake("\(list) must be a list of names.")
            }
            // The operation splits lists at commas, but not a single name.
            query += names.compactMap(\.self).map { ($0.utf8.contains(UInt8(ascii: ",")) ? single : list, $0) }
        }
        return query
    }

    private static func texts(_ names: [String], in arguments: JSONObject) throws(ArgumentMistake) -> [(String, String)]
    {
        var texts: [(String, String)] = []
        for member in arguments {
            guard names.contains(member.name), let text = member.value.string ?? member.value.number?.text else {
                throw ArgumentMistake("There is no argument \"\(member.name)\", or it is no text.")
            }
            texts.append((member.name, text))
        }
        return texts
    }

    // MARK: - Descriptions

    private static func tool(
        _ name: String,
        _ description: String,
        _ properties: [(String, JSONValue)],
        required: [String] = []
    ) -> JSONValue {
        let members = properties.map { JSONObject.Member(name: $0.0, value: $0.1) }
        return [
            "name": .string(name), "description": .string(description),
            "inputSchema": [
                "type": "object", "properties": .object(JSONObject(members)),
                "required": .array(required.map(JSONValue.string)), "additionalProperties": false,
            ],
            "annotations": ["readOnlyHint": .bool(name != "send")],
        ]
    }

    private static func names(_ description: String) -> JSONValue {
        ["type": "array", "items": ["type": "string"], "description": .string(description)]
    }

    /// A line about a feed for the description of a tool.
    static func sentence(_ feed: FeedConfiguration) -> String {
        let items = feed.items.isEmpty ? "any" : feed.items.map(\.pattern).joined(separator: ", ")
        let fields = feed.fields.map { field in
            "\(field.name) (\([field.type.rawValue, field.unit].compactMap(\.self).joined(separator: " ")))"
        }
        return
            "\n- \(feed.name): \([feed.title.map { $0 + "." }, feed.description].compactMap(\.self).joined(separator: " ")) "
            + "Items: \(items). Fields: \(fields.joined(separator: ", "))."
    }
}
