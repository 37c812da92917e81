internal import JSONText
internal import SessionCore
internal import SessionPool

/// Reads the properties of a subscription from a JSON object, or from a query in that form.
enum SubscriptionReader {
    /// The members that are properties.
    static let members: Set<String> = [
        "mode", "items", "itemGroup", "fields", "fieldSchema", "dataAdapter", "selector", "requestedSnapshot",
        "requestedMaxFrequency", "requestedBufferSize", "commandSecondLevelFields", "commandSecondLevelFieldSchema",
        "commandSecondLevelDataAdapter",
    ]

    /// The properties; nil after an error. Without a mode it is MERGE; modes are read in any letter case.
    ///
    /// - Parameter isComplete: Whether items and fields are required. Without them the subscription cannot be activated.
    static func properties(_ reader: ObjectReader, isComplete: Bool = true) -> SubscriptionProperties? {
        let mode = mode(reader)
        let items = source(reader, .items, isNeeded: isComplete)
        let fields = source(reader, .fields, isNeeded: isComplete)
        let second = source(reader, .secondLevelFields, isNeeded: false)
        guard let mode else { return nil }
        var properties = SubscriptionProperties(mode: mode, items: items ?? .list([]), fields: fields ?? .list([]))
        properties.secondLevelFields = second
        if second == nil, !reader.refusals.entries.isEmpty {
            // Names that were refused are not missing.
            let pair = NamePair.secondLevelFields
            if reader.has(pair.list) || reader.has(pair.group) { properties.secondLevelFields = .list([]) }
        }
        apply(reader, to: &properties)
        for conflict in ModeConflict.all(in: properties) { reader.refuse(conflict.property, conflict.rule) }
        return reader.refusals.entries.isEmpty ? properties : nil
    }

    /// The time that a subscription is to live unused, `ttl`. Outer nil: missing or invalid; inner nil: as configured.
    static func lifetime(_ reader: ObjectReader, upTo most: Duration) -> Duration?? {
        guard let value = reader.object["ttl"] else { return nil }
        if value.isNull { return .some(nil) }
        let limit = most / .seconds(1)
        guard let seconds = value.number?.doubleValue, seconds > 0, seconds <= limit else {
            let rule = "A number of seconds greater than 0 is expected, \(Int(limit)) at most, or null."
            return reader.refused("ttl", rule)
        }
        return .some(.seconds(seconds))
    }

    /// Reads the members that do not depend on each other.
    static func apply(_ reader: ObjectReader, to properties: inout SubscriptionProperties) {
        if let name = reader.optionalString("dataAdapter", mayBeEmpty: false) { properties.dataAdapter = name }
        if let name = reader.optionalString("selector", mayBeEmpty: false) { properties.selector = name }
        if let name = reader.optionalString("commandSecondLevelDataAdapter", mayBeEmpty: false) {
            properties.secondLevelDataAdapter = name
        }
        read("requestedSnapshot", of: reader, to: &properties.requestedSnapshot)
        read("requestedMaxFrequency", of: reader, to: &properties.requestedMaxFrequency)
        read("requestedBufferSize", of: reader, to: &properties.requestedBufferSize)
    }

    /// One of a pair of members. Rejects an object with both members and, if one is needed, an object with neither.
    static func source(_ reader: ObjectReader, _ pair: NamePair, isNeeded: Bool) -> NameSource? {
        let (list, group) = (pair.list, pair.group)
        if reader.has(list), reader.has(group) {
            return reader.refused(group, "Either \(list) or \(group) is expected, not both.")
        }
        if reader.has(list) {
            guard let names = reader.strings(list, pair.rule) else { return nil }
            return .list(names)
        }
        if reader.has(group) {
            guard let name = reader.name(group) else { return nil }
            return .group(name)
        }
        if isNeeded { reader.missing(list, "\(list) or \(group) is required.") }
        return nil
    }

    private static func mode(_ reader: ObjectReader) -> SubscriptionMode? {
        guard let value = reader.object["mode"] else { return .merge }
        if let word = value.string, let mode = SubscriptionMode(rawValue: word.uppercased()) { return mode }
        let words = SubscriptionMode.allCases.map(\.rawValue).joined(separator: ", ")
        return reader.refused("mode", "One of \(words) is expected.")
    }

    /// Reads a limit, if the object has the member; null clears.
    private static func read<Limit: LimitValue>(_ name: String, of reader: ObjectReader, to limit: inout Limit?) {
        guard let value = reader.object[name] else { return }
        if value.isNull {
            limit = nil
        } else if let read = Limit(json: value) {
            limit = read
        } else {
            reader.refuse(name, Limit.expectation(in: reader.refusals.origin))
        }
    }
}

/// A property that the mode does not allow, whatever its value.
struct ModeConflict: Equatable {
    let property: String
    let rule: String

    static func all(in properties: SubscriptionProperties) -> [ModeConflict] {
        var conflicts: [ModeConflict] = []
        func note(_ property: String, _ rule: String) { conflicts.append(ModeConflict(property: property, rule: rule)) }
        switch (properties.mode, properties.requestedSnapshot) {
        case (.raw, .some): note("requestedSnapshot", "RAW mode has no snapshot.")
        case (.merge, .length), (.command, .length):
            note("requestedSnapshot", "Only DISTINCT mode takes a length.")
        default: break
        }
        if properties.mode == .command, case .list(let names) = properties.fields, !names.isEmpty,
            !names.contains("key") || !names.contains("command")
        {
            note("fields", "COMMAND mode needs the fields key and command.")
        }
        let (second, adapter) = (properties.secondLevelFields, "commandSecondLevelDataAdapter")
        if properties.mode != .command {
            let rule = "Only COMMAND mode has a second level."
            if let second { note(NamePair.secondLevelFields.member(of: second), rule) }
            if properties.secondLevelDataAdapter != nil { note(adapter, rule) }
        } else if properties.secondLevelDataAdapter != nil, second == nil {
            note(adapter, "It needs commandSecondLevelFields or commandSecondLevelFieldSchema.")
        }
        for property in properties.ineffectiveProperties { note(property.name, "It \(property.rule).") }
        return conflicts
    }
}

/// Two members of which a subscription has one: a list of names, or the name of a group that the server knows.
struct NamePair {
    let list: String
    let group: String
    let rule: NameRule

    static let items = NamePair(list: "items", group: "itemGroup", rule: .item)
    static let fields = NamePair(list: "fields", group: "fieldSchema", rule: .field)
    static let secondLevelFields = NamePair(
        list: "commandSecondLevelFields",
        group: "commandSecondLevelFieldSchema",
        rule: .field
    )

    func member(of names: NameSource) -> String { if case .list = names { list } else { group } }
}

/// The rules of the class reference for names of items and fields.
package enum NameRule: Sendable {
    /// Not empty, no space, not of digits alone.
    case item
    /// Not empty, no space.
    case field

    /// The most items of a list, which count towards quotas.
    package static let mostItems = 100_000

    func admits(_ name: String) -> Bool {
        guard !name.isEmpty, !name.utf8.contains(0x20) else { return false }
        switch self {
        case .item: return !NameSource.isNumber(name)
        case .field: return true
        }
    }

    var sentence: String {
        switch self {
        case .item: "An item name is expected: not empty, without a space, not of digits alone."
        case .field: "A field name is expected: not empty and without a space."
        }
    }
}

/// A merge patch of a subscription's properties.
struct SubscriptionPatch: Sendable {
    private static let members = SubscriptionReader.members.subtracting(["mode"]).union(["ttl"])
    private static let readOnly: Set<String> = [
        "id", "upstream", "client", "mode", "shared", "active", "subscribed", "lastError", "itemCount", "fieldCount",
        "keyPosition", "commandPosition", "realMaxFrequency", "expiresIn", "counters",
    ]

    private let object: JSONObject
    /// The time that the subscription is to live unused. Outer nil: unchanged; inner nil: as configured.
    let lifetime: Duration??

    /// Reads a patch. Throws a 422 problem with one entry for each unknown member and refused value.
    ///
    /// - Parameter mostLifetime: The greatest `ttl`.
    init(_ object: JSONObject, mostLifetime: Duration = .seconds(600)) throws(Problem) {
        self.object = object
        let reader = ObjectReader(object, Refusals())
        lifetime = SubscriptionReader.lifetime(reader, upTo: mostLifetime)
        reader.allow(only: Self.members, readOnly: Self.readOnly)
        var trial = SubscriptionProperties(mode: .command, items: .list([]), fields: .list([]))
        apply(reader, to: &trial)
        try reader.refusals.finish()
    }

    /// The properties after the patch. Throws a 422 problem for values that the class reference refuses for the mode,
    /// and a 409 problem for legal values that conflict with the present state of the subscription: a second level
    /// outside COMMAND mode, a frequency or buffer size without an effect.
    func applied(to properties: SubscriptionProperties) throws(Problem) -> SubscriptionProperties {
        var result = properties
        apply(ObjectReader(object, Refusals()), to: &result)
        let conflicts = ModeConflict.all(in: result)
        if result.mode != .command {
            try Self.refuse(conflicts.filter { $0.property.hasPrefix("commandSecondLevel") }, .notCommandMode)
        }
        let ineffective = Set(result.ineffectiveProperties.map(\.name))
        try Self.refuse(conflicts.filter { ineffective.contains($0.property) }, .lifecycle)
        try Self.refuse(conflicts, .invalidValue)
        return result
    }

    private static func refuse(_ conflicts: [ModeConflict], _ code: ProblemCode) throws(Problem) {
        if conflicts.isEmpty { return }
        throw Problem(refusing: conflicts.map { ProblemEntry(.body(at: [$0.property]), code, $0.rule) })
    }

    /// The error of a change of these properties. If the state of the subscription does not permit the change, the problem has an
    /// entry for each member that changes more than the frequency, or else for the frequency.
    func located(_ error: any Error, changing present: SubscriptionProperties) -> any Error {
        guard case PoolError.lifecycle? = error as? PoolError else { return error }
        var problem = ProblemDetails.problem(for: error)
        let changing = object.filter { member in
            var changed = present
            apply(ObjectReader(JSONObject([member]), Refusals()), to: &changed)
            return changed != present
        }
        let frequency = "requestedMaxFrequency"
        let others = changing.map(\.name).filter { $0 != frequency }
        problem.entries = (others.isEmpty ? [frequency] : others).map {
            ProblemEntry(.body(at: [$0]), .lifecycle, problem.detail ?? problem.code.title)
        }
        return problem
    }

    private func apply(_ reader: ObjectReader, to properties: inout SubscriptionProperties) {
        if let items = source(reader, .items, properties.items) { properties.items = items ?? .list([]) }
        if let fields = source(reader, .fields, properties.fields) { properties.fields = fields ?? .list([]) }
        if let second = source(reader, .secondLevelFields, properties.secondLevelFields) {
            properties.secondLevelFields = second
        }
        SubscriptionReader.apply(reader, to: &properties)
    }

    /// One of a pair. Outer nil: both are missing, or null for the form that the present source does not have; inner nil:
    /// cleared.
    private func source(_ reader: ObjectReader, _ pair: NamePair, _ present: NameSource?) -> NameSource?? {
        let (list, group) = (pair.list, pair.group)
        guard reader.has(list) || reader.has(group) else { return nil }
        let values = [reader.object[list], reader.object[group]].compactMap { $0 }
        if values.allSatisfy(\.isNull) {
            switch present {
            case .list: return reader.has(list) ? .some(nil) : nil
            case .group: return reader.has(group) ? .some(nil) : nil
            case nil: return nil
            }
        }
        if reader.object[list]?.isNull == true { return reader.name(group).map { .some(.group($0)) } }
        if reader.object[group]?.isNull == true { return reader.strings(list, pair.rule).map { .some(.list($0)) } }
        return SubscriptionReader.source(reader, pair, isNeeded: false).map { .some($0) }
    }
}
