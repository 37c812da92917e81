extension JSONValue {
    /// The depth of nesting: 0 for a plain value. Recurses as deep as that.
    var depth: Int {
        switch self {
        case .null, .bool, .number, .string: 0
        case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.lazy.map(\.value.depth).max() ?? 0)
        }
    }

    /// Takes roughly the length of the compact text from a budget, and stops counting when that is spent.
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
