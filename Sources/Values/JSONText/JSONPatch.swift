/// A list of changes to a JSON value (RFC 6902).
package struct JSONPatch: Sendable, Hashable {
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

extension JSONPatch {
    /// The most that patches may cost, however short they are. Several patches can share one.
    package struct Budget: Sendable {
        /// What `copy` operations may add, in approximate bytes of text: each can double the value.
        var growth = 16 << 20
        /// The members that pointers are compared with, the elements that insertions and removals shift, and the
        /// approximate bytes of text of values that are moved or tested.
        var work = 64 << 20

        /// A budget of which nothing is spent.
        package init() {}
    }

    /// The value with all operations applied in order, within a budget of its own.
    package func applied(to value: JSONValue) throws(Failure) -> JSONValue {
        var budget = Budget()
        return try applied(to: value, within: &budget)
    }

    /// The value with all operations applied in order; the first operation that fails, or exceeds the budget, makes the
    /// whole patch fail. The result is nested at most `JSONValue.maxDepth` deep.
    package func applied(to value: JSONValue, within budget: inout Budget) throws(Failure) -> JSONValue {
        var result = value
        for (index, operation) in operations.enumerated() {
            guard Self.fits(operation, into: result, &budget) else { throw .tooLarge(index) }
            try Self.apply(operation, at: index, to: &result)
        }
        return result
    }

    /// Whether an operation stays within the budget, and the value that it inserts within the limit of depth.
    private static func fits(_ operation: Operation, into value: JSONValue, _ budget: inout Budget) -> Bool {
        let maxDepth = JSONValue.maxDepth
        switch operation {
        case .add(let path, let new):
            value.takeWork(at: path, shifts: true, from: &budget.work)
            return budget.work >= 0 && path.tokens.count + new.depth <= maxDepth
        case .replace(let path, let new):
            value.takeWork(at: path, shifts: false, from: &budget.work)
            return budget.work >= 0 && path.tokens.count + new.depth <= maxDepth
        case .remove(let path):
            value.takeWork(at: path, shifts: true, from: &budget.work)
            return budget.work >= 0
        case .move(let source, let path):
            value.takeWork(at: source, shifts: true, from: &budget.work)
            value.takeWork(at: path, shifts: true, from: &budget.work)
            guard let moved = value.value(at: source) else { return true }
            moved.takeWeight(from: &budget.work)
            return budget.work >= 0 && path.tokens.count + moved.depth <= maxDepth
        case .copy(let source, let path):
            value.takeWork(at: source, shifts: false, from: &budget.work)
            value.takeWork(at: path, shifts: true, from: &budget.work)
            guard let copied = value.value(at: source) else { return true }
            copied.takeWeight(from: &budget.growth)
            return budget.work >= 0 && budget.growth >= 0 && path.tokens.count + copied.depth <= maxDepth
        case .test(let path, _):
            value.takeWork(at: path, shifts: false, from: &budget.work)
            value.value(at: path)?.takeWeight(from: &budget.work)
            return budget.work >= 0
        }
    }

    private static func apply(_ operation: Operation, at index: Int, to value: inout JSONValue) throws(Failure) {
        let done: Bool
        switch operation {
        case .add(let path, let new): done = value.add(new, at: path.tokens[...])
        case .remove(let path): done = value.remove(at: path.tokens[...]) != nil
        case .replace(let path, let new): done = value.replace(at: path.tokens[...], with: new)
        case .move(let source, let path):
            guard !source.isProperPrefix(of: path), let moved = value.value(at: source) else {
                throw .noSuchPlace(index)
            }
            if source == path { return }
            done = value.remove(at: source.tokens[...]) != nil && value.add(moved, at: path.tokens[...])
        case .copy(let source, let path):
            guard let copied = value.value(at: source) else { throw .noSuchPlace(index) }
            done = value.add(copied, at: path.tokens[...])
        case .test(let path, let expected):
            guard let found = value.value(at: path) else { throw .noSuchPlace(index) }
            guard found.isEquivalent(to: expected) else { throw .testFailed(index) }
            return
        }
        if !done { throw .noSuchPlace(index) }
    }
}

extension JSONPointer {
    /// Whether the other pointer leads into the value at this pointer.
    fileprivate func isProperPrefix(of other: JSONPointer) -> Bool {
        tokens.count < other.tokens.count && zip(tokens, other.tokens).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}

extension JSONValue {
    /// Adds a value at a path; false if its parent does not exist or has no such position.
    fileprivate mutating func add(_ new: JSONValue, at path: ArraySlice<String>) -> Bool {
        guard let last = path.last else {
            self = new
            return true
        }
        return edit(at: path.dropLast()) { parent in
            switch parent {
            case .object(var members):
                // The members have one owner while they change, so that they are not copied.
                parent = .null
                members[last] = new
                parent = .object(members)
            case .array(var elements):
                let index = last == "-" ? elements.count : JSONPointer.index(last, count: elements.count + 1)
                guard let index else { return false }
                parent = .null
                elements.insert(new, at: index)
                parent = .array(elements)
            case .null, .bool, .number, .string:
                return false
            }
            return true
        }
    }

    /// Removes and returns the value at a path; removing the whole document leaves null.
    fileprivate mutating func remove(at path: ArraySlice<String>) -> JSONValue? {
        var removed: JSONValue?
        guard let last = path.last else {
            removed = self
            self = .null
            return removed
        }
        _ = edit(at: path.dropLast()) { parent in
            switch parent {
            case .object(var members):
                removed = members[last]
                parent = .null
                members[last] = nil
                parent = .object(members)
            case .array(var elements):
                guard let index = JSONPointer.index(last, count: elements.count) else { return false }
                parent = .null
                removed = elements.remove(at: index)
                parent = .array(elements)
            case .null, .bool, .number, .string:
                return false
            }
            return true
        }
        return removed
    }

    /// Replaces the value at a path; false if there is none.
    fileprivate mutating func replace(at path: ArraySlice<String>, with new: JSONValue) -> Bool {
        edit(at: path) { place in
            place = new
            return true
        }
    }

    /// Applies a change to the value at a path; false if there is no value or the change returns false.
    private mutating func edit(at path: ArraySlice<String>, _ change: (inout JSONValue) -> Bool) -> Bool {
        guard let token = path.first else { return change(&self) }
        switch self {
        case .object(var object):
            guard let position = object.position(of: token) else { return false }
            self = .null
            let isChanged = object.members[position].value.edit(at: path.dropFirst(), change)
            self = .object(object)
            return isChanged
        case .array(var elements):
            guard let index = JSONPointer.index(token, count: elements.count) else { return false }
            self = .null
            let isChanged = elements[index].edit(at: path.dropFirst(), change)
            self = .array(elements)
            return isChanged
        case .null, .bool, .number, .string:
            return false
        }
    }
}

extension JSONValue {
    /// The depth of nesting: 0 for a plain value. The recursion is equally deep.
    var depth: Int {
        switch self {
        case .null, .bool, .number, .string: 0
        case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.lazy.map(\.value.depth).max() ?? 0)
        }
    }

    /// Subtracts from a budget the members that names of a pointer are compared with, and if the last array shifts, the
    /// elements from the last index on. It stops when the budget is negative.
    fileprivate func takeWork(at pointer: JSONPointer, shifts: Bool, from budget: inout Int) {
        var value = self
        for (depth, token) in pointer.tokens.enumerated() {
            switch value {
            case .object(let members):
                budget -= members.count
                guard budget >= 0, let next = members[token] else { return }
                value = next
            case .array(let elements):
                guard let index = JSONPointer.index(token, count: elements.count) else { return }
                if shifts, depth == pointer.tokens.count - 1 { budget -= elements.count - index }
                value = elements[index]
            case .null, .bool, .number, .string:
                return
            }
        }
    }

    /// Subtracts the approximate length of the compact text from a budget, and stops when the budget is negative.
    func takeWeight(from budget: inout Int) {
        budget -= 4
        switch self {
        case .null, .bool: break
        case .number(let number): budget -= number.text.utf8.count
        case .string(let text): budget -= text.utf8.count
        case .array(let elements):
            for element in elements where budget >= 0 { element.takeWeight(from: &budget) }
        case .object(let members):
            for member in members where budget >= 0 {
                budget -= member.name.utf8.count
                member.value.takeWeight(from: &budget)
            }
        }
    }
}
