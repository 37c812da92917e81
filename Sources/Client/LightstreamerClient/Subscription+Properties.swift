public import SessionCore

/// Setters throw `invalidValue` for a value that the class reference refuses, and `lifecycle` while the subscription is
/// active. The getter of a list returns nil if a group or schema is set, and the getter of a group or schema returns
/// nil if a list is set.
extension Subscription {
    /// The items by name.
    public var items: [String]? { state.withLock { $0.properties.items.listedNames } }
    /// Sets the items by name: not empty, no spaces, no numbers. Replaces an item group; nil clears.
    public func setItems(_ names: [String]?) throws(ClientError) {
        try edit { properties throws(ClientError) in properties.items = try .list(names, "items") }
    }

    /// The name of the item group.
    public var itemGroup: String? { state.withLock { $0.properties.items.groupName } }
    /// Sets the item group. Replaces an item list; nil clears.
    public func setItemGroup(_ name: String?) throws(ClientError) {
        try edit { $0.items = name.map(NameSource.group) ?? .unset }
    }

    /// The fields by name.
    public var fields: [String]? { state.withLock { $0.properties.fields.listedNames } }
    /// Sets the fields by name: not empty, no spaces; in COMMAND mode `key` and `command` are needed. Replaces a field
    /// schema; nil clears.
    public func setFields(_ names: [String]?) throws(ClientError) {
        try edit { properties throws(ClientError) in properties.fields = try .list(names, "fields") }
    }

    /// The name of the field schema.
    public var fieldSchema: String? { state.withLock { $0.properties.fields.groupName } }
    /// Sets the field schema. Replaces a field list; nil clears.
    public func setFieldSchema(_ name: String?) throws(ClientError) {
        try edit { $0.fields = name.map(NameSource.group) ?? .unset }
    }

    /// The Data Adapter; nil: the server's `DEFAULT`.
    public var dataAdapter: String? { state.withLock { $0.properties.dataAdapter } }
    /// Sets `dataAdapter`, not empty.
    public func setDataAdapter(_ name: String?) throws(ClientError) { try edit { $0.dataAdapter = name } }

    /// The selector; nil: none.
    public var selector: String? { state.withLock { $0.properties.selector } }
    /// Sets `selector`, not empty.
    public func setSelector(_ name: String?) throws(ClientError) { try edit { $0.selector = name } }

    /// The requested snapshot; nil: the server decides. Default: `yes`, in RAW mode nil.
    public var requestedSnapshot: RequestedSnapshot? { state.withLock { $0.properties.requestedSnapshot } }
    /// Sets `requestedSnapshot`; a length only in DISTINCT mode, in RAW mode only nil.
    public func setRequestedSnapshot(_ snapshot: RequestedSnapshot?) throws(ClientError) {
        try edit { $0.requestedSnapshot = snapshot }
    }

    /// The requested buffer size; nil: the server decides.
    public var requestedBufferSize: RequestedBufferSize? { state.withLock { $0.properties.requestedBufferSize } }
    /// Sets `requestedBufferSize`, greater than 0. Sent only in MERGE and DISTINCT mode, and not with unfiltered
    /// dispatching.
    public func setRequestedBufferSize(_ size: RequestedBufferSize?) throws(ClientError) {
        try edit { $0.requestedBufferSize = size }
    }

    /// The requested frequency limit; nil: the server decides.
    public var requestedMaxFrequency: RequestedMaxFrequency? { state.withLock { $0.properties.requestedMaxFrequency } }
    /// Sets `requestedMaxFrequency`, greater than 0. Not sent in RAW mode. While the subscription is active the value
    /// may be changed, but not from or to `unfiltered`, and not to nil.
    public func setRequestedMaxFrequency(_ frequency: RequestedMaxFrequency?) throws(ClientError) {
        try editFrequency(frequency)
    }

    /// COMMAND only: the Data Adapter of the second level; nil: `DEFAULT`.
    public var commandSecondLevelDataAdapter: String? { state.withLock { $0.properties.secondLevelDataAdapter } }
    /// Sets `commandSecondLevelDataAdapter`, not empty.
    public func setCommandSecondLevelDataAdapter(_ name: String?) throws(ClientError) {
        try edit { $0.secondLevelDataAdapter = name }
    }

    /// COMMAND only: the second-level fields by name; nil: no second level, or a schema.
    public var commandSecondLevelFields: [String]? { state.withLock { $0.properties.secondLevelFields?.names } }
    /// Sets `commandSecondLevelFields`: not empty, no spaces. Replaces a second-level schema; nil clears.
    public func setCommandSecondLevelFields(_ names: [String]?) throws(ClientError) {
        try edit { $0.secondLevelFields = names.map(NameSource.list) }
    }

    /// COMMAND only: the name of the second-level field schema.
    public var commandSecondLevelFieldSchema: String? { state.withLock { $0.properties.secondLevelFields?.groupName } }
    /// Sets `commandSecondLevelFieldSchema`. Replaces a second-level field list; nil clears.
    public func setCommandSecondLevelFieldSchema(_ name: String?) throws(ClientError) {
        try edit { $0.secondLevelFields = name.map(NameSource.group) }
    }

    /// Replaces all properties except the mode, which must be the same. Throws as the single setters do, and then
    /// changes nothing. While active only `requestedMaxFrequency` may differ.
    public func setProperties(_ properties: SubscriptionProperties) throws(ClientError) {
        guard properties.mode == mode else {
            throw ClientError(.lifecycle, property: "mode", value: properties.mode.rawValue, rule: "cannot be changed")
        }
        var withoutFrequency = properties
        withoutFrequency.requestedMaxFrequency = requestedMaxFrequency
        if isActive, state.withLock({ $0.properties == withoutFrequency }) {
            try editFrequency(properties.requestedMaxFrequency)
        } else {
            try edit { present throws(ClientError) in
                try properties.check(isComplete: true)
                present = properties
            }
        }
    }
}

extension NameSource {
    /// A list of names; unset names for nil. Throws for an empty list.
    fileprivate static func list(_ names: [String]?, _ property: String) throws(ClientError) -> NameSource {
        guard let names else { return .unset }
        if let violation = SubscriptionProperties.listViolation(names, property) { throw violation }
        return .list(names)
    }
}
