internal import Primitives
public import SessionCore
package import Synchronization

/// A subscription to items and fields of a server, and their present values.
///
/// A new object is inactive. `LightstreamerClient.subscribe` makes it active; `unsubscribe`, or a refusal or removal by
/// the server, makes it inactive again. While it is active, the only property that can be changed is
/// `requestedMaxFrequency`. It may be used from any thread and inside delegate methods.
public final class Subscription: Sendable, CustomStringConvertible {
    /// How the items behave.
    public typealias Mode = SubscriptionMode

    let state: RankedMutex<State>
    /// The approximate size of the values after the last event, in bytes.
    package let valueWeight = Atomic(0)

    /// A subscription without items and fields; both must be set before `subscribe`.
    public convenience init(mode: Mode) {
        self.init(checked: SubscriptionProperties(mode: mode, items: .unset, fields: .unset))
    }

    /// A subscription to items by name. Throws `invalidValue` for bad lists.
    public convenience init(mode: Mode, items: [String], fields: [String]) throws(ClientError) {
        self.init(mode: mode)
        try setItems(items)
        try setFields(fields)
    }

    /// A subscription to one item by name. Throws `invalidValue` for bad names.
    public convenience init(mode: Mode, item: String, fields: [String]) throws(ClientError) {
        try self.init(mode: mode, items: [item], fields: fields)
    }

    /// A subscription with these properties. Throws `invalidValue` for the first invalid one.
    public convenience init(properties: SubscriptionProperties) throws(ClientError) {
        try properties.check(isComplete: true)
        self.init(checked: properties)
    }

    /// A subscription with properties that the caller has checked. Items and fields may still be unset.
    package init(checked properties: SubscriptionProperties) {
        state = RankedMutex(State(properties: properties), rank: .subscription)
    }

    /// How the items behave.
    public var mode: Mode { state.withLock { $0.properties.mode } }

    /// Whether the subscription is active: subscribed, and not unsubscribed since by the user or by the server.
    public var isActive: Bool { state.withLock { $0.isActive } }

    /// Whether the server accepted the subscription in the present session.
    public var isSubscribed: Bool { state.withLock { $0.table?.isSubscribed ?? false } }

    /// The properties as one value; nil while items or fields are missing.
    public var properties: SubscriptionProperties? { state.withLock { $0.properties.isComplete ? $0.properties : nil } }

    /// The number of items; nil while not subscribed.
    public var itemCount: Int? { state.withLock { $0.table?.itemCount } }

    /// The number of first-level fields; nil while not subscribed.
    public var fieldCount: Int? { state.withLock { $0.table?.fieldCount } }

    /// COMMAND only: the 1-based position of the key field, from the first `subscriptionDidSubscribe` until the fields
    /// are changed; nil before, and in other modes.
    public var keyPosition: Int? { state.withLock { $0.keyPosition } }

    /// COMMAND only: the 1-based position of the command field, from the first `subscriptionDidSubscribe` until the
    /// fields are changed; nil before, and in other modes.
    public var commandPosition: Int? { state.withLock { $0.commandPosition } }

    /// The frequency limit in force; nil while not subscribed or unknown.
    public var realMaxFrequency: RealMaxFrequency? { state.withLock { $0.table?.realMaxFrequency } }

    /// The `LS_subId` since the last activation, on a client with `ClientConfiguration.handover`; else nil.
    package var number: Int? { state.withLock { $0.number } }

    /// A snapshot of all present values; nil while inactive.
    package var valueTable: ValueTable? { state.withLock { $0.table } }

    /// Mode, items, fields and the other properties that are set.
    public var description: String { state.withLock { $0.properties.summary } }
}

extension Subscription {
    /// The state that a subscription's getters read.
    struct State {
        /// The properties; items and fields are unset until the application sets them.
        var properties: SubscriptionProperties
        /// Identifies the present or the last `subscribe`; nil before the first.
        var token: SubscriptionToken?
        var isActive = false
        /// The client that the subscription is, or was last, active on.
        weak var core: ClientCore?
        /// The last activity that has begun on the task of its client.
        var begun: SubscriptionToken?
        /// The activity whose flow of data has begun for the delegates, and not ended.
        var announced: SubscriptionToken?
        /// The values; nil while inactive.
        var table: ValueTable?
        /// COMMAND only: the position of the key field, as announced last for these fields.
        var keyPosition: Int?
        /// COMMAND only: the position of the command field, as announced last for these fields.
        var commandPosition: Int?
        /// The `LS_subId` since the last `subscribe`; nil before the first, and on clients without a handover.
        var number: Int?
        /// The refusal or removal that ended the last activity; nil while active, and if the application unsubscribed.
        var refusal: SubscriptionRefused?
        /// The delegates as the getter returns them.
        var delegates: [any SubscriptionDelegate] = []
        /// The receivers of events, in order of addition: package observers, event sequences, and the adapters of those
        /// delegates whose first event was delivered and whose last one was not.
        var observers: [any SubscriptionObserver] = []

        mutating func deactivate() {
            isActive = false
            table = nil
        }
    }
}

extension Subscription {
    /// Changes the properties, if the subscription is inactive and the result is valid.
    private func edit(_ change: (inout SubscriptionProperties) throws(ClientError) -> Void) throws(ClientError) {
        try state.withLock { state throws(ClientError) in
            if state.isActive { throw Self.activeError }
            var properties = state.properties
            try change(&properties)
            try properties.check(isComplete: false)
            if properties.fields != state.properties.fields {
                state.keyPosition = nil
                state.commandPosition = nil
            }
            state.properties = properties
        }
    }

    /// Changes the requested frequency, of an active subscription as well.
    private func editFrequency(_ frequency: RequestedMaxFrequency?) throws(ClientError) {
        try state.withLock { state throws(ClientError) in
            let present = state.properties.requestedMaxFrequency
            var properties = state.properties
            properties.requestedMaxFrequency = frequency
            try properties.check(isComplete: false)
            if state.isActive {
                if present != frequency, frequency == nil || frequency == .unfiltered || present == .unfiltered {
                    throw Self.frequencyError(frequency)
                }
                // Inside the lock, so that two changes reach the driver in the order in which the getter saw them.
                // Equal values too: the server may have refused the limit.
                if let token = state.token { state.core?.mailbox.put(.changeMaxFrequency(token, frequency)) }
            }
            state.properties = properties
        }
    }

    private static let activeError = ClientError(
        .lifecycle,
        rule: "Cannot modify an active Subscription. Please unsubscribe before applying any change"
    )

    private static func frequencyError(_ frequency: RequestedMaxFrequency?) -> ClientError {
        ClientError(
            .lifecycle,
            property: "requestedMaxFrequency",
            value: frequency?.text,
            rule: "cannot be changed from or to unfiltered, or to null, while the Subscription is active"
        )
    }
}

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
    /// may be changed, but not from or to `unfiltered`, and not to nil. An equal value requests a limit again that the
    /// server has refused.
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
