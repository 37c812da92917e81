/// Changes in the shape of the value that they change (RFC 7396): members set, `null` removes.
package struct JSONMergePatch: Sendable, Hashable {
    /// The patch document.
    package var document: JSONValue

    /// A patch of this document.
    package init(_ document: JSONValue) { self.document = document }

    /// The value with the changes made. Any document is a patch: this never fails.
    package func applied(to value: JSONValue) -> JSONValue { Self.merge(document, into: value) }

    private static func merge(_ patch: JSONValue, into target: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var result = target.object ?? JSONObject()
        for change in changes {
            if change.value.isNull {
                result[change.name] = nil
            } else {
                result[change.name] = merge(change.value, into: result[change.name] ?? .null)
            }
        }
        return .object(result)
    }
}
