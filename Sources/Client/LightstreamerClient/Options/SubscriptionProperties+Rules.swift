internal import SessionCore

/// The rules of the class reference for values.
extension SubscriptionProperties {
    /// Throws the first invalid value, in the order of the class reference. `isComplete`: items and fields have to be set.
    func check(isComplete: Bool) throws(ClientError) {
        let violation =
            itemsViolation(isComplete) ?? fieldsViolation(isComplete) ?? Self.notEmpty(dataAdapter, "dataAdapter")
            ?? bufferViolation ?? frequencyViolation ?? snapshotViolation ?? Self.notEmpty(selector, "selector")
            ?? secondLevelViolation
        if let violation { throw violation }
    }

    /// The properties that are set, for descriptions of a subscription.
    var summary: String {
        let parts: [(String, String?)] = [
            ("items", items.isUnset ? nil : items.wireName), ("fields", fields.isUnset ? nil : fields.wireName),
            ("dataAdapter", dataAdapter), ("selector", selector), ("requestedSnapshot", requestedSnapshot?.text),
            ("requestedMaxFrequency", requestedMaxFrequency?.text), ("requestedBufferSize", requestedBufferSize?.text),
            ("commandSecondLevelFields", secondLevelFields?.wireName),
            ("commandSecondLevelDataAdapter", secondLevelDataAdapter),
        ]
        return (["mode=\(mode.rawValue)"] + parts.compactMap { name, value in value.map { "\(name)=\($0)" } })
            .joined(separator: " ")
    }

    private static func notEmpty(_ value: String?, _ property: String) -> ClientError? {
        value == "" ? .invalid(property, "", "must not be empty") : nil
    }

    private func itemsViolation(_ isComplete: Bool) -> ClientError? {
        switch items {
        case .unset where !isComplete: return nil
        case .group(let name): return Self.notEmpty(name, "itemGroup")
        case .list(let names):
            if let violation = Self.listViolation(names, "items") { return violation }
            let number = names.first(where: NameSource.isNumber)
            return number.map { .invalid("items", $0, "must not hold names of digits alone") }
        }
    }

    private func fieldsViolation(_ isComplete: Bool) -> ClientError? {
        switch fields {
        case .unset where !isComplete: return nil
        case .group(let name): return Self.notEmpty(name, "fieldSchema")
        case .list(let names):
            if let violation = Self.listViolation(names, "fields") { return violation }
            guard mode == .command, !names.contains("key") || !names.contains("command") else { return nil }
            let rule = "must hold the names key and command in COMMAND mode"
            return .invalid("fields", names.joined(separator: " "), rule)
        }
    }

    static func listViolation(_ names: [String], _ property: String) -> ClientError? {
        if names.isEmpty { return .invalid(property, "", "must not be an empty list") }
        if names.contains("") { return .invalid(property, "", "must not hold empty names") }
        let spaced = names.first { $0.utf8.contains(0x20) }
        return spaced.map { .invalid(property, $0, "must not hold names with spaces") }
    }

    private var bufferViolation: ClientError? {
        guard case .limited(let size) = requestedBufferSize, size <= 0 else { return nil }
        return .invalid("requestedBufferSize", "\(size)", "must be unlimited or an integer greater than 0")
    }

    private var frequencyViolation: ClientError? {
        guard case .limited(let limit) = requestedMaxFrequency, !(limit.isFinite && limit > 0) else { return nil }
        return .invalid("requestedMaxFrequency", "\(limit)", "must be unlimited, unfiltered or a number greater than 0")
    }

    private var snapshotViolation: ClientError? {
        guard let requestedSnapshot else { return nil }
        if mode == .raw {
            return .invalid("requestedSnapshot", requestedSnapshot.text, "must not be set in RAW mode")
        }
        guard case .length(let length) = requestedSnapshot else { return nil }
        if mode != .distinct {
            return .invalid("requestedSnapshot", "\(length)", "must not be a length but in DISTINCT mode")
        }
        return length > 0 ? nil : .invalid("requestedSnapshot", "\(length)", "must be a length greater than 0")
    }

    private var secondLevelViolation: ClientError? {
        let property: String
        switch secondLevelFields {
        case nil: property = "commandSecondLevelDataAdapter"
        case .list: property = "commandSecondLevelFields"
        case .group: property = "commandSecondLevelFieldSchema"
        }
        if mode != .command, secondLevelFields != nil || secondLevelDataAdapter != nil {
            let value = secondLevelFields?.wireName ?? secondLevelDataAdapter
            return .invalid(property, value, "must not be set but in COMMAND mode")
        }
        let fieldsViolation: ClientError? =
            switch secondLevelFields {
            case nil: nil
            case .list(let names): Self.listViolation(names, property)
            case .group(let name): Self.notEmpty(name, property)
            }
        return fieldsViolation ?? Self.notEmpty(secondLevelDataAdapter, "commandSecondLevelDataAdapter")
    }
}
