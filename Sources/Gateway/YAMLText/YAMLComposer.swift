internal import CYAML

/// Makes a tree of values from the events of the YAML parser.
struct YAMLComposer: ~Copyable {
    /// Of nested sequences and mappings with aliases expanded: each takes a place on the stack.
    static let deepest = 100
    /// Of all values with aliases expanded: a short text with aliases of aliases may stand for any number of values.
    static let largest = 1_000_000

    /// The bytes of the text; the parser reads them as it goes on.
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    private var anchors: [String: YAMLNode] = [:]
    private var depth = 0

    private init(_ text: String) {
        input = .allocate(capacity: text.utf8.count)
        _ = input.initialize(from: text.utf8)
        yaml_parser_initialize(parser)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// The root of the only document of a text; nil without a document.
    static func compose(_ text: String) throws(YAMLError) -> YAMLNode? {
        var composer = YAMLComposer(text)
        return try composer.document()
    }

    private mutating func document() throws(YAMLError) -> YAMLNode? {
        _ = try next()
        if try next().type == YAML_STREAM_END_EVENT { return nil }
        let root = try node(next())
        _ = try next()
        let end = try next()
        guard end.type == YAML_STREAM_END_EVENT else { throw YAMLError(end.mark, "another document begins") }
        return root
    }

    /// What the composer needs of an event.
    private struct Event {
        let type: yaml_event_type_t
        let mark: yaml_mark_t
        var text = ""
        var anchor: String?
        var isPlain = false
        /// Whether a scalar has a tag of no meaning, such as a text that begins with ! and has no quotes.
        var hasUnknownTag = false

        init(_ event: yaml_event_t) {
            type = event.type
            mark = event.start_mark
            switch type {
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
                anchor = Self.string(scalar.anchor)
                let tag = Self.string(scalar.tag)
                isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE && tag == nil
                hasUnknownTag = tag.map { !$0.hasPrefix("tag:yaml.org,2002:") } ?? false
            case YAML_SEQUENCE_START_EVENT: anchor = Self.string(event.data.sequence_start.anchor)
            case YAML_MAPPING_START_EVENT: anchor = Self.string(event.data.mapping_start.anchor)
            case YAML_ALIAS_EVENT: anchor = Self.string(event.data.alias.anchor)
            default: break
            }
        }

        private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
            text.map { String(decodingCString: $0, as: UTF8.self) }
        }
    }

    /// The mistake at which the parser has stopped.
    private func mistake() -> YAMLError {
        let parser = parser.pointee
        let problem = parser.problem.map { String(cString: $0) } ?? "no memory"
        // The reader of the characters counts bytes instead of lines.
        if parser.error == YAML_READER_ERROR {
            let before = input.prefix(parser.problem_offset)
            return YAMLError(line: 1 + before.count { $0 == UInt8(ascii: "\n") }, reason: problem)
        }
        let mark = parser.context == nil ? parser.problem_mark : parser.context_mark
        let characters = String(decoding: input, as: UTF8.self).unicodeScalars
        if problem.hasPrefix("found a tab") { return YAMLError(parser.problem_mark, Self.spaces) }
        switch characters.dropFirst(Int(mark.index)).first {
        case "\t": return YAMLError(mark, Self.spaces)
        case "*", "&", "!", "@", "%", "`":
            if parser.error == YAML_SCANNER_ERROR { return YAMLError(mark, Self.quotes) }
        default: break
        }
        if problem.hasPrefix("mapping values") {
            return YAMLError(mark, "a key is not expected here: correct the indentation, or quote text with a colon")
        }
        let start = parser.context.map {
            "\(String(cString: $0)) in line \(mark.line + 1), column \(mark.column + 1): "
        }
        return YAMLError(parser.problem_mark, (start ?? "") + problem)
    }

    private static let spaces = "a tab in the indentation; use spaces"
    private static let quotes = "text that begins with *, &, !, @, % or ` must be in quotes"

    private mutating func next() throws(YAMLError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw mistake() }
        defer { yaml_event_delete(&event) }
        return Event(event)
    }

    /// The value that begins with an event.
    private mutating func node(_ event: Event) throws(YAMLError) -> YAMLNode {
        depth += 1
        defer { depth -= 1 }
        let known = event.type == YAML_ALIAS_EVENT ? event.anchor.flatMap { anchors[$0] } : nil
        guard depth - 1 + (known?.depth ?? 1) <= Self.deepest else {
            throw YAMLError(event.mark, "more than \(Self.deepest) levels")
        }
        if let known { return known }
        let content: YAMLNode.Content =
            switch event.type {
            case YAML_ALIAS_EVENT: throw YAMLError(event.mark, "an alias without anchor; \(Self.quotes)")
            case YAML_SEQUENCE_START_EVENT: .sequence(try elements())
            case YAML_MAPPING_START_EVENT: .mapping(try members())
            case _ where event.hasUnknownTag: throw YAMLError(event.mark, Self.quotes)
            default: .scalar(event.text, isPlain: event.isPlain)
            }
        let node = YAMLNode(content, line: Int(event.mark.line) + 1)
        guard node.size <= Self.largest else { throw YAMLError(event.mark, "more than \(Self.largest) values") }
        if let anchor = event.anchor { anchors[anchor] = node }
        return node
    }

    private mutating func elements() throws(YAMLError) -> [YAMLNode] {
        var elements: [YAMLNode] = []
        while true {
            let event = try next()
            if event.type == YAML_SEQUENCE_END_EVENT { return elements }
            elements.append(try node(event))
        }
    }

    private mutating func members() throws(YAMLError) -> [(name: YAMLNode, value: YAMLNode)] {
        var members: [(name: YAMLNode, value: YAMLNode)] = []
        var names: Set<String> = []
        while true {
            let event = try next()
            if event.type == YAML_MAPPING_END_EVENT { return members }
            let name = try node(event)
            if let text = name.string, !names.insert(text).inserted {
                throw YAMLError(event.mark, "more than once in a mapping: \(text)")
            }
            members.append((name, try node(next())))
        }
    }
}

extension YAMLError {
    fileprivate init(_ mark: yaml_mark_t, _ reason: String) {
        self.init(line: Int(mark.line) + 1, reason: "column \(mark.column + 1): \(reason)")
    }
}
