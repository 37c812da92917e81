internal import JSONText
internal import SessionCore

/// The keys under which streams tell the fields of a subscription: names if every level has a list and no name stands
/// twice in both lists together, else positions. Each is kept as JSON text, `"name":`.
struct FieldNaming: Sendable {
    /// Whether the keys are names.
    let usesNames: Bool
    private let keys: [[UInt8]]

    /// The keys for a subscription.
    init(_ properties: SubscriptionProperties) {
        var names = properties.fields.names ?? []
        var isListed = properties.fields.names != nil
        if let second = properties.secondLevelFields {
            names += second.names ?? []
            isListed = isListed && second.names != nil
        }
        usesNames = isListed && Set(names).count == names.count
        let count = max(names.count, 64)
        let texts = usesNames ? names : (1...count).map(String.init)
        keys = texts.map(Self.text)
    }

    private static func text(_ name: String) -> [UInt8] {
        var json = JSONBytes(capacity: name.utf8.count + 3)
        json.key(name)
        return json.bytes
    }

    /// Writes the key of the field at a 1-based position.
    func write(_ position: Int, to json: inout JSONBytes) {
        if keys.indices.contains(position - 1) {
            json.raw(keys[position - 1])
            json.beginText()
        } else {
            json.key(String(position))
        }
    }
}
