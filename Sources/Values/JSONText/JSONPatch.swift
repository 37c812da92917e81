/// A list of changes to a JSON value (RFC 6902).
package struct JSONPatch: Sendable, Hashable {
    /// One change.
    package enum Operation: Sendable, Hashable {
        /// Inserts an array element, or sets a member.
        case add(JSONPointer, JSONValue)
        /// Removes the value.
        case remove(JSONPointer)
        /// Replaces the value.
        case replace(JSONPointer, JSONValue)
        /// Removes the value at the first pointer and adds it at the second.
        case move(from: JSONPointer, to: JSONPointer)
        /// Adds a copy of the value at the first pointer at the second one.
        case copy(from: JSONPointer, to: JSONPointer)
        /// Fails unless the value is equivalent.
        case test(JSONPointer, JSONValue)
    }

    /// Why a patch cannot be read or applied. Positions of operations count from 0.
    package enum Failure: Error, Hashable, Sendable {
        /// The text is not JSON.
        case notJSON(JSONParseError)
        /// The document is not an array.
        case notAnArray
        /// An operation that is not an object, has an unknown name or lacks a member, or a malformed pointer.
        case malformedOperation(Int)
        /// A pointer without a value, or a `move` of a value into itself.
        case noSuchPlace(Int)
        /// A `test` that failed.
        case testFailed(Int)
        /// The result would exceed the limits of depth or growth, or the operation the limit of work.
        case tooLarge(Int)
    }

    /// The operations, in the order in which they are applied.
    package var operations: [Operation]

    /// The patch that a text describes. Objects may repeat a name; the last value counts.
    package init(parsing bytes: some Collection<UInt8>) throws(Failure) {
        let document: JSONValue
        do throws(JSONParseError) {
            document = try JSONValue(parsing: bytes, admitsDuplicates: true)
        } catch {
            throw .notJSON(error)
        }
        try self.init(document)
    }

    /// The patch that a document describes. Members that RFC 6902 does not name are ignored.
    package init(_ document: JSONValue) throws(Failure) {
        guard let elements = document.array else { throw .notAnArray }
        operations = []
        for (index, element) in elements.enumerated() {
            guard let operation = Operation(element) else { throw .malformedOperation(index) }
            operations.append(operation)
        }
    }

    /// A patch that turns one value into an equivalent of another. It is not always the shortest patch: for arrays,
    /// only the common head and tail are recognized.
    package init(from old: JSONValue, to new: JSONValue) {
        operations = []
        describe(old, new, at: JSONPointer())
    }

    /// The document that describes the patch.
    package var document: JSONValue { .array(operations.map(\.document)) }

    private mutating func describe(_ old: JSONValue, _ new: JSONValue, at path: JSONPointer) {
        if old.isEquivalent(to: new) { return }
        switch (old, new) {
        case (.object(let old), .object(let new)): describe(old, new, at: path)
        case (.array(let old), .array(let new)): describe(old, new, at: path)
        default: operations.append(.replace(path, new))
        }
    }

    private mutating func describe(_ old: JSONObject, _ new: JSONObject, at path: JSONPointer) {
        for member in old where new[member.name] == nil {
            operations.append(.remove(path.appending(member.name)))
        }
        for member in new {
            if let before = old[member.name] {
                describe(before, member.value, at: path.appending(member.name))
            } else {
                operations.append(.add(path.appending(member.name), member.value))
            }
        }
    }

    private mutating func describe(_ old: [JSONValue], _ new: [JSONValue], at path: JSONPointer) {
        let shorter = min(old.count, new.count)
        var head = 0
        while head < shorter, old[head].isEquivalent(to: new[head]) { head += 1 }
        var tail = 0
        while tail < shorter - head, old[old.count - 1 - tail].isEquivalent(to: new[new.count - 1 - tail]) { tail += 1 }
        let oldMiddle = old.count - head - tail
        let newMiddle = new.count - head - tail
        for offset in 0..<min(oldMiddle, newMiddle) {
            describe(old[head + offset], new[head + offset], at: path.appending(String(head + offset)))
        }
        if oldMiddle > newMiddle {
            for index in (head + newMiddle..<head + oldMiddle).reversed() {
                operations.append(.remove(path.appending(String(index))))
            }
        } else {
            for index in head + oldMiddle..<head + newMiddle {
                operations.append(.add(path.appending(String(index)), new[index]))
            }
        }
    }
}

extension JSONPointer {
    /// The pointer with one more token.
    fileprivate func appending(_ token: String) -> JSONPointer { JSONPointer(tokens: tokens + [token]) }
}

extension JSONPatch.Operation {
    /// The operation that an object describes; nil if it is malformed.
    init?(_ document: JSONValue) {
        guard let name = document["op"]?.string, let path = document["path"]?.string.flatMap(JSONPointer.init) else {
            return nil
        }
        let source = document["from"]?.string.flatMap(JSONPointer.init)
        switch (name, document["value"], source) {
        case ("add", let value?, _): self = .add(path, value)
        case ("remove", _, _): self = .remove(path)
        case ("replace", let value?, _): self = .replace(path, value)
        case ("move", _, let source?): self = .move(from: source, to: path)
        case ("copy", _, let source?): self = .copy(from: source, to: path)
        case ("test", let value?, _): self = .test(path, value)
        default: return nil
        }
    }

    /// The object that describes the operation.
    var document: JSONValue {
        switch self {
        case .add(let path, let value): ["op": "add", "path": .string(path.description), "value": value]
        case .remove(let path): ["op": "remove", "path": .string(path.description)]
        case .replace(let path, let value): ["op": "replace", "path": .string(path.description), "value": value]
        case .move(let source, let path):
            ["op": "move", "from": .string(source.description), "path": .string(path.description)]
        case .copy(let source, let path):
            ["op": "copy", "from": .string(source.description), "path": .string(path.description)]
        case .test(let path, let value): ["op": "test", "path": .string(path.description), "value": value]
        }
    }
}
