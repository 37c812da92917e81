internal import Yams

/// An OpenAPI document whose references can be followed.
struct DocsDocument {
    /// The root; nil if the document cannot be read.
    let root: Node?

    /// The node that a reference leads to, or the node itself.
    func resolve(_ node: Node?) -> Node? {
        guard let reference = node?["$ref"]?.string else { return node }
        return reference.split(separator: "/").dropFirst().reduce(root) { place, name in place?[String(name)] }
    }

    /// The members of a mapping, in order.
    func pairs(_ node: Node?) -> [(String, Node)] {
        guard let mapping = node?.mapping else { return [] }
        return mapping.compactMap { pair in pair.key.string.map { ($0, pair.value) } }
    }

    /// The elements of a sequence.
    func elements(_ node: Node?) -> [Node] { node?.sequence.map { Array($0) } ?? [] }

    /// The first successful response of an operation.
    func success(of operation: Node) -> (status: String, node: Node)? {
        for (status, node) in pairs(operation["responses"]) where status.hasPrefix("2") {
            if let response = resolve(node) { return (status, response) }
        }
        return nil
    }

    /// The value of the first example of a response in a media type.
    func example(of response: Node, mediaType: String) -> Node? {
        let examples = pairs(response["content"]?[mediaType]?["examples"])
        return examples.first.flatMap { resolve($0.1) }?["value"]
    }

    /// The operations, each with its path, item and method, in the order of the document.
    var operations: [(path: String, item: Node, method: String, operation: Node)] {
        pairs(root?["paths"]).flatMap { path, item in
            pairs(item).filter { Self.methods.contains($0.0) }.map { (path, item, $0.0, $0.1) }
        }
    }

    private static let methods: Set<String> = ["get", "post", "patch", "put", "delete"]
}
