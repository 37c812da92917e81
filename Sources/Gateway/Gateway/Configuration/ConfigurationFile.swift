internal import Yams

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
            guard let root = try Yams.compose(yaml: text) else {
                (entries, vacant) = ([], [])
                return
            }
            guard case .mapping = root else { throw Self.error(path, 1, nil, "must hold a mapping of keys") }
            var entries: [Entry] = []
            try Self.flatten(root, key: "", path: path, into: &entries)
            try Self.refuseRepeated(entries, path: path)
            self.entries = entries.filter { $0.value != nil }
            vacant = entries.filter { $0.value == nil }
        } catch let error as ConfigurationError {
            throw error
        } catch let error as YamlError {
            let (line, reason) = Self.lineAndReason(of: error)
            throw Self.error(path, line, nil, "is not valid YAML or JSON: \(reason)")
        } catch {
            throw Self.error(path, 1, nil, "cannot be read: \(error)")
        }
    }

    private static func error(_ path: String, _ line: Int, _ key: String?, _ rule: String) -> ConfigurationError {
        ConfigurationError(mistakes: [ConfigurationMistake(place: "\(path):\(line)", key: key, rule: rule)])
    }

    /// The line of an error and its reason, without the text of the file there: the text may be a secret.
    private static func lineAndReason(of error: YamlError) -> (line: Int, reason: String) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let start = context.map { "\($0.text) in line \($0.mark.line), column \($0.mark.column): " } ?? ""
            return (mark.line, "column \(mark.column): \(start)\(problem)")
        case .reader(let problem, let offset, _, let text):
            return (1 + text.prefix(offset ?? 0).count(where: \.isNewline), problem)
        case .duplicatedKeysInMapping(let keys, let context):
            let names = keys.sorted().joined(separator: ", ")
            return (context.mark.line, "column \(context.mark.column): more than once in a mapping: \(names)")
        default:
            return (1, "\(error)")
        }
    }

    /// Refuses a key that is written with dots in one place, and as a member of its group in another.
    private static func refuseRepeated(_ entries: [Entry], path: String) throws {
        var seen: Set<String> = []
        let mistakes = entries.filter { !seen.insert($0.key).inserted }.map {
            ConfigurationMistake(place: "\(path):\($0.line)", key: $0.key, rule: "is given more than once")
        }
        guard mistakes.isEmpty else { throw ConfigurationError(mistakes: mistakes) }
    }

    private static func flatten(_ node: Node, key: String, path: String, into entries: inout [Entry]) throws {
        let line = node.mark?.line ?? 1
        switch node {
        case .scalar(let scalar):
            let isNull =
                node.tag == Tag(.null) || (scalar.style == .plain && ["", "~", "null"].contains(scalar.string))
            entries.append(Entry(key: key, value: isNull ? nil : scalar.string, line: line))
        case .mapping(let mapping):
            if mapping.isEmpty { entries.append(Entry(key: key, value: nil, line: line)) }
            for (name, value) in mapping {
                guard let name = name.string, !name.isEmpty, !name.contains(".") || key.isEmpty else {
                    let rule = "has a member whose name is empty, has a dot or is not text"
                    throw error(path, name.mark?.line ?? line, key, rule)
                }
                try flatten(value, key: key.isEmpty ? name : "\(key).\(name)", path: path, into: &entries)
            }
        case .sequence(let sequence):
            let values = sequence.compactMap(\.string)
            guard values.count == sequence.count else {
                throw error(path, line, key, "must be a list of plain values")
            }
            entries.append(Entry(key: key, value: values.joined(separator: ","), line: line))
        case .alias:
            throw error(path, line, key, "must not be an alias")
        }
    }
}
