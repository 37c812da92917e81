package import SessionCore

/// A named Lightstreamer server, as the operator configured it.
package struct UpstreamConfiguration: Sendable, Equatable {
    /// The name that requests use.
    package var name: String
    /// The server address: http or https, no query.
    package var serverAddress: String
    /// The adapter set; nil: the server's `DEFAULT`.
    package var adapterSet: String?
    /// The user that pooled sessions authenticate as; nil: none.
    package var user: String?
    /// The password that goes with the user. Never shown.
    package var password: String?
    /// The addresses beside its own, and beside those that requests may name, that its control links may name.
    package var controlLinks = AddressAllowList([])
    /// The connection options of every client of this upstream.
    package var options = ConnectionOptionValues()
    /// How many pooled sessions may be open at a time. Default 8.
    package var maxSessions = 8
    /// How many subscriptions one pooled session carries before a further session opens. Default 500.
    package var maxSubscriptionsPerSession = 500
    /// How many subscriptions all pooled sessions together may carry. Default 4,000.
    package var maxSubscriptions = 4_000
    /// How many items all pooled subscriptions together may name; a group counts as one. Default 100,000.
    package var maxItems = 100_000

    /// An upstream with default quotas and options.
    package init(name: String, serverAddress: String, adapterSet: String? = nil) {
        self.name = name
        self.serverAddress = serverAddress
        self.adapterSet = adapterSet
    }
}
