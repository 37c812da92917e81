/// The rules of the class reference for names of items and fields.
enum NameRule: Sendable {
    /// Not empty, no space, not of digits only.
    case item
    /// Not empty, no space.
    case field

    /// Whether a name obeys the rule.
    func admits(_ name: String) -> Bool {
        guard !name.isEmpty, !name.utf8.contains(0x20) else { return false }
        switch self {
        case .item: return !name.utf8.allSatisfy { (0x30...0x39).contains($0) }
        case .field: return true
        }
    }

    /// The rule.
    var sentence: String {
        switch self {
        case .item: "An item name is expected: not empty, without a space, not of digits only."
        case .field: "A field name is expected: not empty and without a space."
        }
    }
}
