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

    let state: Mutex<State>
    /// The approximate size of the values after the last update, in bytes.
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
    package init(checked properties: SubscriptionProperties) { state = Mutex(State(properties: properties)) }

    /// How the items behave.
    public var mode: Mode { state.withLock { $0.properties.mode } }

    /// Whether it is active: subscribed, and not unsubscribed since by the user or by the server.
    public var isActive: Bool { state.withLock { $0.isActive } }

    /// Whether the server accepted it in the present session.
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

    /// Its `LS_subId` since it was last made active, on a client with `ClientConfiguration.handover`; else nil.
    package var number: Int? { state.withLock { $0.number } }

    /// A snapshot of all present values; nil while inactive.
    package var valueTable: ValueTable? { state.withLock { $0.table } }

    /// Mode, items, fields and the other properties that are set.
    public var description: String { state.withLock { $0.properties.summary } }
}
