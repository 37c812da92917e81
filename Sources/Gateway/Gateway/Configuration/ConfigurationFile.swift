internal import YAMLText

/// A configuration file as dotted keys with their line numbers. JSON is a subset of YAML.
package struct ConfigurationFile: Sendable {
    struct Entry: Sendable {
        let key: String
        /// Nil if the key has no value.
        let value: String?
        let line: Int
    }

    let path: String
    let entries: [Entry]
    /// Keys without a value.
    let vacant: [Entry]

    /// Parses the text of a file; throws the mistake if it is not valid YAML.
    package init(path: String, text: String) throws(ConfigurationError) {
        self.path = path
        do {
            guard let root = try YAMLNode(parsing: text) else {
                (entries, vacant) = ([], [])
                return
            }
            guard case .mapping = root.content else { throw Self.error(path, 1, nil, "must hold a mapping of keys") }
            var entries: [Entry] = []
            try Self.flatten(root, key: "", path: path, into: &entries)
            try Self.refuseRepeated(entries, path: path)
            self.entries = entries.filter { $0.value != nil }
            vacant = entries.filter { $0.value == nil }
        } catch let error as YAMLError {
            throw Self.error(path, error.line, nil, "is not valid YAML or JSON: \(error.reason)")
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw Self.error(path, 1, nil, "cannot be read: \(error)")
        }
    }

    private static func error(_ path: String, _ line: Int, _ key: String?, _ rule: String) -> ConfigurationError {
        ConfigurationError(mistakes: [ConfigurationMistake(place: "\(path):\(line)", key: key, rule: rule)])
    }

    /// Refuses a key that is written with dots in one place, and as a member of its group in another.
    private static func refuseRepeated(_ entries: [Entry], path: String) throws {
        var seen: Set<String> = []
        let mistakes = entries.filter { !seen.insert($0.key).inserted }.map {
            ConfigurationMistake(place: "\(path):\($0.line)", key: $0.key, rule: "is given more than once")
        }
        guard mistakes.isEmpty else { throw ConfigurationError(mistakes: mistakes) }
    }

    private static func flatten(_ node: YAMLNode, key: String, path: String, into entries: inout [Entry]) throws {
        switch node.content {
        case .scalar(let text, _):
            entries.append(Entry(key: key, value: node.isNull ? nil : text, line: node.line))
        case .mapping(let members):
            if members.isEmpty { entries.append(Entry(key: key, value: nil, line: node.line)) }
            for (name, value) in members {
                guard let text = name.string, !text.isEmpty, !text.contains(".") || key.isEmpty else {
                    let rule = "has a member whose name is empty, has a dot or is not text"
                    throw error(path, name.line, key, rule)
                }
                try flatten(value, key: key.isEmpty ? text : "\(key).\(text)", path: path, into: &entries)
            }
        case .sequence(let elements):
            let values = elements.compactMap(\.string)
            guard values.count == elements.count else {
                throw error(path, node.line, key, "must be a list of plain values")
            }
            entries.append(Entry(key: key, value: values.joined(separator: ","), line: node.line))
        }
    }
}
