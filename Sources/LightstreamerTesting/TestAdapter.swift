public import LightstreamerClient

/// A data adapter of a test server. Its items change only when the test says so.
public struct TestAdapter: Sendable, Hashable {
    /// The name of the adapter; subscriptions without a data adapter use `DEFAULT`.
    public var name: String
    /// The mode that its items allow; a subscription in another mode is refused with code 24.
    public var mode: SubscriptionMode
    /// The names of its items; empty admits every name. A subscription to another item is refused with code 21.
    public var items: [String]
    /// The names of its fields; in COMMAND mode `key` and `command` are among them. A subscription to another field is
    /// refused with code 23.
    public var fields: [String]
    /// The greatest frequency of an item in updates per second; nil sets no limit.
    public var maxFrequency: Double?
    /// Whether a snapshot is complete only after `TestServer.endSnapshot(of:in:)`.
    public var holdsSnapshots: Bool

    /// An adapter without data.
    ///
    /// - Parameters:
    ///   - name: The name of the adapter.
    ///   - mode: The mode that its items allow.
    ///   - items: The names of its items; empty admits every name.
    ///   - fields: The names of its fields.
    ///   - maxFrequency: The greatest frequency of an item in updates per second; nil sets no limit.
    ///   - holdsSnapshots: Whether a snapshot is complete only after `TestServer.endSnapshot(of:in:)`.
    public init(
        _ name: String = "DEFAULT",
        mode: SubscriptionMode = .merge,
        items: [String] = [],
        fields: [String],
        maxFrequency: Double? = nil,
        holdsSnapshots: Bool = false
    ) {
        self.name = name
        self.mode = mode
        self.items = items
        self.fields = fields
        self.maxFrequency = maxFrequency
        self.holdsSnapshots = holdsSnapshots
    }
}

/// How a test server responds to a message.
public enum MessageResponse: Sendable, Hashable {
    /// The message is processed.
    case processed(response: String)
    /// The processing fails; codes of a Metadata Adapter are 0 or negative.
    case failed(code: Int, message: String)
}
