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
