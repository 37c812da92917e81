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

    /// What goes to the machine; nil while items or fields are missing.
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
