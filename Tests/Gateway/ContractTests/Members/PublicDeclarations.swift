/// The public members that some Swift sources declare, as `Type.name` and, for functions, `Type.name(label:)`.
///
/// It reads sources laid out as `swift format` lays them out: types begin in the first column, members of them in the
/// fifth, members of nested types in the ninth.
struct PublicDeclarations {
    private(set) var members: Set<String> = []
    /// Names of the methods that a protocol requires, by protocol.
    private(set) var requirements: [String: Set<String>] = [:]

    init(of texts: [String]) {
        for text in texts { read(text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)) }
    }

    private struct Scope {
        var name: String
        var isProtocol: Bool
        var isPublic: Bool
    }

    private mutating func read(_ lines: [String]) {
        var scopes: [Scope] = []
        for (index, line) in lines.enumerated() {
            let depth = line.prefix { $0 == " " }.count / 4
            let words = line.trimmingPrefix { $0 == " " }
            if words.isEmpty || words.hasPrefix("//") { continue }
            if depth < scopes.count { scopes.removeLast(scopes.count - depth) }
            guard depth == scopes.count else { continue }
            if let scope = Self.scope(String(words)) {
                scopes.append(scope)
            } else if let scope = scopes.last, Self.isVisible(words, in: scope) {
                let type = scopes.map(\.name).joined(separator: ".")
                take(words, following: lines[(index + 1)...], of: type, isRequired: scope.isProtocol)
            }
        }
    }

    private static func scope(_ line: String) -> Scope? {
        guard line.hasSuffix("{") else { return nil }
        let words = line.split(separator: " ").map(String.init)
        let kinds: Set = ["class", "struct", "enum", "protocol", "extension"]
        guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count,
            words[..<kind].allSatisfy({ ["public", "package", "final", "indirect"].contains($0) })
        else { return nil }
        let name = words[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
        let isExtension = words[kind] == "extension"
        return Scope(
            name: String(name),
            isProtocol: words[kind] == "protocol",
            isPublic: isExtension || words.contains("public")
        )
    }

    private static func isVisible(_ line: Substring, in scope: Scope) -> Bool {
        line.contains("public ") || (scope.isPublic && (scope.isProtocol || line.hasPrefix("case ")))
    }

    private mutating func take(
        _ line: Substring,
        following rest: ArraySlice<String>,
        of type: String,
        isRequired: Bool
    ) {
        let words = line.split(whereSeparator: { " (:=".contains($0) })
        if let keyword = words.firstIndex(where: { ["var", "let", "case", "typealias"].contains($0) }),
            keyword + 1 < words.count
        {
            members.insert("\(type).\(words[keyword + 1].filter { $0 != "`" && $0 != "," })")
        } else if line.contains("func ") || line.contains("init(") {
            let start = line.range(of: "func ")?.upperBound ?? line.range(of: "init(")?.lowerBound ?? line.startIndex
            let text = line[start...] + rest.prefix(12).joined(separator: " ")
            let name = String(text.prefix { $0 != "(" && $0 != "<" })
            members.insert("\(type).\(name)(\(Self.labels(text)))")
            if isRequired { requirements[type, default: []].insert("\(type).\(name)(\(Self.labels(text)))") }
        }
    }

    /// The argument labels of the first parameter list in a text.
    private static func labels(_ text: Substring) -> String {
        guard let open = text.firstIndex(of: "(") else { return "" }
        var depth = 0
        var labels = ""
        var atStart = true
        for index in text[open...].indices {
            switch text[index] {
            case "(", "[", "<": depth += 1
            case ")", "]": depth -= 1
            case ">" where text[text.index(before: index)] != "-": depth -= 1
            case "," where depth == 1: atStart = true
            case " ", "\n": break
            default:
                if depth == 1, atStart {
                    labels += text[index...].prefix { $0 != " " && $0 != ":" } + ":"
                    atStart = false
                }
            }
            if depth == 0 { break }
        }
        return labels
    }
}
