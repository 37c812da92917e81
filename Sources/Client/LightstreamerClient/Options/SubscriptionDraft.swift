internal import SessionCore

/// The properties of a subscription while they are being set: items and fields may still be missing.
struct SubscriptionDraft: Sendable, Equatable {
    let mode: SubscriptionMode
    var items: NameSource?
    var fields: NameSource?
    var dataAdapter: String?
    var selector: String?
    var requestedSnapshot: RequestedSnapshot?
    var requestedMaxFrequency: RequestedMaxFrequency?
    var requestedBufferSize: RequestedBufferSize?
    var secondLevelFields: NameSource?
    var secondLevelDataAdapter: String?

    init(mode: SubscriptionMode) {
        self.mode = mode
        requestedSnapshot = mode == .raw ? nil : .yes
    }

    init(_ properties: SubscriptionProperties) {
        mode = properties.mode
        items = properties.items
        fields = properties.fields
        dataAdapter = properties.dataAdapter
        selector = properties.selector
        requestedSnapshot = properties.requestedSnapshot
        requestedMaxFrequency = properties.requestedMaxFrequency
        requestedBufferSize = properties.requestedBufferSize
        secondLevelFields = properties.secondLevelFields
        secondLevelDataAdapter = properties.secondLevelDataAdapter
    }

    /// The properties for the machine; nil while items or fields are missing.
    var properties: SubscriptionProperties? {
        guard let items, let fields else { return nil }
        var properties = SubscriptionProperties(mode: mode, items: items, fields: fields)
        properties.dataAdapter = dataAdapter
        properties.selector = selector
        properties.requestedSnapshot = requestedSnapshot
        properties.requestedMaxFrequency = requestedMaxFrequency
        properties.requestedBufferSize = requestedBufferSize
        properties.secondLevelFields = secondLevelFields
        properties.secondLevelDataAdapter = secondLevelDataAdapter
        return properties
    }

    var description: String {
        let parts: [(String, Any?)] = [
            ("items", items?.wireName), ("fields", fields?.wireName), ("dataAdapter", dataAdapter),
            ("selector", selector), ("requestedSnapshot", requestedSnapshot?.text),
            ("requestedMaxFrequency", requestedMaxFrequency?.text), ("requestedBufferSize", requestedBufferSize?.text),
            ("commandSecondLevelFields", secondLevelFields?.wireName),
            ("commandSecondLevelDataAdapter", secondLevelDataAdapter),
        ]
        return (["mode=\(mode.rawValue)"] + parts.compactMap { name, value in value.map { "\(name)=\($0)" } })
            .joined(separator: " ")
    }
}

/// The rules of the class reference for values.
extension SubscriptionDraft {
    /// The invalid values, in the order of the class reference.
    var violations: [ClientError] {
        [
            itemsViolation, fieldsViolation, Self.notEmpty(dataAdapter, "dataAdapter"), bufferViolation,
            frequencyViolation, snapshotViolation, Self.notEmpty(selector, "selector"), secondLevelViolation,
        ].compactMap { $0 }
    }

    private static func refusal(_ property: String, _ value: String?, _ rule: String) -> ClientError {
        ClientError(.invalidValue, property: property, value: value, rule: rule)
    }

    private static func notEmpty(_ value: String?, _ property: String) -> ClientError? {
        value == "" ? refusal(property, "", "must not be empty") : nil
    }

    private var itemsViolation: ClientError? {
        switch items {
        case nil: return nil
        case .group(let name): return Self.notEmpty(name, "itemGroup")
        case .list(let names):
            if let violation = Self.listViolation(names, "items") { return violation }
            let number = names.first(where: NameSource.isNumber)
            return number.map { Self.refusal("items", $0, "must not hold names that are numbers") }
        }
    }

    private var fieldsViolation: ClientError? {
        switch fields {
        case nil: return nil
        case .group(let name): return Self.notEmpty(name, "fieldSchema")
        case .list(let names):
            if let violation = Self.listViolation(names, "fields") { return violation }
            guard mode == .command, !names.contains("key") || !names.contains("command") else { return nil }
            return Self.refusal(
                "fields",
                names.joined(separator: " "),
                "must hold the names key and command in COMMAND mode"
            )
        }
    }

    private static func listViolation(_ names: [String], _ property: String) -> ClientError? {
        if names.isEmpty { return refusal(property, "", "must not be an empty list") }
        if names.contains("") { return refusal(property, "", "must not hold empty names") }
        let spaced = names.first { $0.utf8.contains(0x20) }
        return spaced.map { refusal(property, $0, "must not hold names with spaces") }
    }

    private var bufferViolation: ClientError? {
        guard case .limited(let size) = requestedBufferSize, size <= 0 else { return nil }
        return Self.refusal("requestedBufferSize", "\(size)", "must be unlimited or an integer greater than 0")
    }

    private var frequencyViolation: ClientError? {
        guard case .limited(let limit) = requestedMaxFrequency, !(limit.isFinite && limit > 0) else { return nil }
        return Self.refusal(
            "requestedMaxFrequency",
            "\(limit)",
            "must be unlimited, unfiltered or a number greater than 0"
        )
    }

    private var snapshotViolation: ClientError? {
        guard let requestedSnapshot else { return nil }
        if mode == .raw {
            return Self.refusal("requestedSnapshot", requestedSnapshot.text, "must not be set in RAW mode")
        }
        guard case .length(let length) = requestedSnapshot else { return nil }
        if mode != .distinct {
            return Self.refusal("requestedSnapshot", "\(length)", "must not be a length but in DISTINCT mode")
        }
        return length > 0 ? nil : Self.refusal("requestedSnapshot", "\(length)", "must be a length greater than 0")
    }

    private var secondLevelViolation: ClientError? {
        let property: String
        switch secondLevelFields {
        case nil: property = "commandSecondLevelDataAdapter"
        case .list: property = "commandSecondLevelFields"
        case .group: property = "commandSecondLevelFieldSchema"
        }
        if mode != .command, secondLevelFields != nil || secondLevelDataAdapter != nil {
            return Self.refusal(
                property,
                secondLevelFields?.wireName ?? secondLevelDataAdapter,
                "must not be set but in COMMAND mode"
            )
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
