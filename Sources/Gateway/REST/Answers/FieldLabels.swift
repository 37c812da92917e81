internal import SessionCore

/// The keys under which the fields of a subscription are shown: names if every level has a list and no name stands twice
/// in both lists together, else positions as decimal strings. Streams follow the same rule.
struct FieldLabels: Sendable {
    private let names: [String]?

    /// The keys for a subscription.
    init(_ properties: SubscriptionProperties) {
        guard var names = properties.fields.names else {
            self.names = nil
            return
        }
        if let second = properties.secondLevelFields {
            guard let secondNames = second.names else {
                self.names = nil
                return
            }
            names += secondNames
        }
        self.names = Set(names).count == names.count ? names : nil
    }

    /// The key of the field at a 1-based position.
    func label(_ position: Int) -> String {
        guard let names, names.indices.contains(position - 1) else { return "\(position)" }
        return names[position - 1]
    }
}
