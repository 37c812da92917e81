internal import YAMLText

/// A configuration file as dotted keys with their line numbers. JSON is a subset of YAML.
package struct ConfigurationFile: Sendable {
    struct Entry: Sendable {
        let key: String
        /// Nil if the key has no value. Behind each element of a sequence is a `SettingValue.end`.
        let value: String?
        let isSequence: Bool
        let line: Int
    }

    let path: String
    private(set) var entries: [Entry] = []
    /// Keys without a value.
    private(set) var vacant: [Entry] = []
    /// The mistakes in parts that are no settings, which the entries do not have.
    private(set) var mistakes: [ConfigurationMistake] = []

    /// Parses the text of a file; throws the mistake if the text is not a mapping in valid YAML.
    package init(path: String, text: String) throws(ConfigurationError) {
        self.path = path
        let root: YAMLNode?
        do throws(YAMLError) {
            root = try YAMLNode(parsing: text)
        } catch {
            throw Self.error(path, error.line, "is not valid YAML or JSON: \(error.reason)")
        }
        guard let root else { return }
        guard case .mapping = root.content else { throw Self.error(path, 1, "must hold a mapping of keys") }
        flatten(root, key: "")
        // A key may be written with dots in one place, and as a member of its group in another.
        var seen: Set<String> = []
        for entry in entries + vacant where !seen.insert(entry.key).inserted {
            note(entry.line, entry.key, "is given more than once")
        }
    }

    private static func error(_ path: String, _ line: Int, _ rule: String) -> ConfigurationError {
        ConfigurationError(mistakes: [ConfigurationMistake(place: "\(path):\(line)", key: nil, rule: rule)])
    }

    private mutating func note(_ line: Int, _ key: String, _ rule: String) {
        mistakes.append(ConfigurationMistake(place: "\(path):\(line)", key: key.isEmpty ? nil : key, rule: rule))
    }

    private mutating func flatten(_ node: YAMLNode, key: String) {
        switch node.content {
        case .scalar(let text, _): add(key, node.isNull ? nil : text, node)
        case .mapping(let members):
            if members.isEmpty { add(key, nil, node) }
            for (name, value) in members {
                guard let text = name.string, !text.isEmpty, !text.contains(".") || key.isEmpty else {
                    note(name.line, key, "has a member whose name is empty, has a dot or is not text")
                    continue
                }
                flatten(value, key: key.isEmpty ? text : "\(key).\(text)")
            }
        case .sequence(let elements):
            let values = elements.compactMap(\.string)
            guard values.count == elements.count else {
                return note(node.line, key, Settings.rule(ofGroup: key) ?? "must be a list of plain values")
            }
            add(key, values.map { $0 + SettingValue.end }.joined(), node, elements: values.count)
        }
    }

    /// - Parameter elements: The number of elements of a sequence; nil: a plain value.
    private mutating func add(_ key: String, _ value: String?, _ node: YAMLNode, elements: Int? = nil) {
        if let value, value.utf8.count(where: { $0 == 0 }) != elements ?? 0 {
            return note(node.line, key, "must not have the character U+0000")
        }
        let entry = Entry(key: key, value: value, isSequence: elements != nil, line: node.line)
        if value == nil { vacant.append(entry) } else { entries.append(entry) }
    }
}

extension Settings {
    /// The rule that the value of a group of keys breaks, with an example of a key; nil for a key that is no group.
    static func rule(ofGroup key: String) -> String? {
        if let named = all.first(where: { $0.key.contains("*") && $0.key.replacing(".*", with: "") == key }) {
            return "has no name before its last part: \(named.key.replacing("*", with: "NAME"))"
        }
        let parts = key.split(separator: ".")
        let patterns = all.map { $0.key.split(separator: ".") }
        let pattern = patterns.first { $0.count > parts.count && zip($0, parts).allSatisfy { $0 == "*" || $0 == $1 } }
        guard let pattern else { return nil }
        let example = pattern.enumerated().map { $1 != "*" ? $1 : $0 < parts.count ? parts[$0] : "NAME" }
        return "is a group of keys, such as \(example.joined(separator: ".")), and has no value itself"
    }
}
