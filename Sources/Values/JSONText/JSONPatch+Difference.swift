extension JSONPatch {
    /// A patch that turns one value into an equivalent of another. It is not always the shortest patch: for arrays,
    /// only the common head and tail are recognized.
    package init(from old: JSONValue, to new: JSONValue) {
        operations = []
        describe(old, new, at: JSONPointer())
    }

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
