internal import JSONText
internal import SessionCore

/// A merge patch of a subscription's properties.
struct SubscriptionPatch {
    private static let members = SubscriptionReader.members.subtracting(["mode"])

    private let reader: ObjectReader

    /// Reads a patch. Throws a 422 problem with one entry for each unknown member and refused value.
    init(_ object: JSONObject) throws(Problem) {
        let refusals = Refusals()
        reader = ObjectReader(object, refusals)
        reader.allow(only: Self.members)
        var trial = SubscriptionProperties(mode: .command, items: .list([]), fields: .list([]))
        apply(to: &trial)
        try refusals.finish()
    }

    /// The properties after the patch. Throws a 409 problem for what their mode does not admit: the patch is legal,
    /// but not for this subscription.
    func applied(to properties: SubscriptionProperties) throws(Problem) -> SubscriptionProperties {
        var result = properties
        apply(to: &result)
        if let conflict = ModeConflict.all(in: result).first {
            let isSecondLevel = conflict.property.hasPrefix("commandSecondLevel")
            throw Problem(
                isSecondLevel ? .notCommandMode : .lifecycle,
                detail: "\(conflict.property): \(conflict.rule)"
            )
        }
        return result
    }

    private func apply(to properties: inout SubscriptionProperties) {
        if let items = pair("items", "itemGroup", .item) { properties.items = items ?? .list([]) }
        if let fields = pair("fields", "fieldSchema", .field) { properties.fields = fields ?? .list([]) }
        if let second = pair("commandSecondLevelFields", "commandSecondLevelFieldSchema", .field) {
            properties.secondLevelFields = second
        }
        SubscriptionReader(reader).apply(to: &properties)
    }

    /// One of a pair. Outer nil: neither is there; inner nil: cleared.
    private func pair(_ list: String, _ group: String, _ rule: NameRule) -> NameSource?? {
        guard reader.has(list) || reader.has(group) else { return nil }
        let values = [reader.object[list], reader.object[group]].compactMap { $0 }
        if values.allSatisfy(\.isNull) { return .some(nil) }
        if reader.object[list]?.isNull == true { return reader.name(group).map { .some(.group($0)) } }
        if reader.object[group]?.isNull == true { return reader.strings(list, rule).map { .some(.list($0)) } }
        return SubscriptionReader(reader).source(list: list, group: group, rule, isNeeded: false).map { .some($0) }
    }
}
