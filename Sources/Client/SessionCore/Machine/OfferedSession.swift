/// A session that another client can continue.
package struct OfferedSession: Sendable, Equatable {
    /// The session ID that the server assigned: a secret.
    package let id: String
    /// The address for everything that needs a new connection.
    package let address: String
    /// The number of data notifications whose events were reported.
    package let processed: Int

    /// The largest number that is accepted from another client: sums with it do not overflow.
    static let largestNumber = 1 << 62

    package init(id: String, address: String, processed: Int) {
        self.id = id
        self.address = address
        self.processed = min(max(0, processed), Self.largestNumber)
    }
}

/// A subscription of such a session.
package struct AdoptedSubscription: Sendable {
    /// The subscription of the user here.
    package let token: SubscriptionToken
    /// The `LS_subId` of the subscription in the session.
    package let number: Int
    /// The values after `processed` data notifications; later rows refer to them.
    package let table: ValueTable

    /// A subscription with one level.
    package init(token: SubscriptionToken, number: Int, table: ValueTable) {
        self.token = token
        self.number = min(max(0, number), OfferedSession.largestNumber)
        self.table = table
    }
}
