/// A value of a YAML document with the line in which it begins. JSON is a subset of YAML.
package struct YAMLNode: Sendable {
    package indirect enum Content: Sendable {
        /// The text of a scalar; plain if it has neither quotes nor a tag, and thus may mean a number, a boolean or null.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// The members in their order; no name occurs twice.
        case mapping([(name: YAMLNode, value: YAMLNode)])
    }

    package let content: Content
    /// From 1 on.
    package let line: Int
    /// The number of values in it, with the names of members, aliases expanded.
    let size: Int
    /// The number of levels in it, aliases expanded; 1 for a scalar.
    let depth: Int

    /// The root of the document in a text; nil if the text has none.
    package init?(parsing text: String) throws(YAMLError) {
        guard let root = try YAMLComposer.compose(text) else { return nil }
        self = root
    }

    init(_ content: Content, line: Int) {
        self.content = content
        self.line = line
        let parts: [YAMLNode] =
            switch content {
            case .scalar: []
            case .sequence(let elements): elements
            case .mapping(let members): members.flatMap { [$0.name, $0.value] }
            }
        size = parts.reduce(1) { $0 + $1.size }
        depth = parts.reduce(0) { max($0, $1.depth) } + 1
    }

    /// The text of a scalar; nil for other values.
    package var string: String? { if case .scalar(let text, _) = content { text } else { nil } }

    /// Whether the value is a null of the core schema (YAML 1.2.2, 10.3.2).
    package var isNull: Bool {
        if case .scalar(let text, isPlain: true) = content {
            ["", "~", "null", "Null", "NULL"].contains(text)
        } else {
            false
        }
    }
}

/// A mistake in a YAML document. The reason has no values of the document, which may be secrets.
package struct YAMLError: Error, Equatable {
    /// From 1 on.
    package let line: Int
    package let reason: String

    package init(line: Int, reason: String) { (self.line, self.reason) = (line, reason) }
}
