package import SessionCore

/// What makes two pooled subscriptions the same one.
package struct SharedKey: Hashable, Sendable {
    /// The session it needs.
    package let session: SessionKey
    /// All that its `add` request says.
    package let properties: SubscriptionProperties

    /// A key.
    package init(session: SessionKey, properties: SubscriptionProperties) {
        self.session = session
        self.properties = properties
    }

    /// How many items count against the quota: a group counts as one, its size is the server's secret.
    var itemCount: Int { properties.items.names?.count ?? 1 }
}
