internal import TLCP

/// A session that another client can continue.
package struct OfferedSession: Sendable, Equatable {
    /// The server's name for it: a secret.
    package let id: String
    /// The address for everything that needs a new connection.
    package let address: String
    /// The number of data notifications whose events were reported.
    package let processed: Int

    /// The largest number that is accepted from another client: sums with it do not overflow.
    static let largestNumber = 1 << 62

    /// A session.
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

/// Sessions that pass from one client to another.
extension SessionMachine {
    /// The `LS_subId` of an active subscription.
    package func number(of token: SubscriptionToken) -> Int? { requests.subscriptions.number(of: token) }

    /// Continues a session that another client has opened: recovers it, so that the server repeats all data
    /// notifications after the known ones. If it cannot be recovered, its subscriptions end as at any lost session, and
    /// a new session follows. Only for a machine without a session and without subscriptions; without a server address
    /// nothing happens.
    package mutating func adopt(
        _ offer: OfferedSession,
        _ adopted: [AdoptedSubscription],
        at context: EventContext
    ) -> [SessionAction] {
        guard state.isIdle, let creationAddress = opening.connecting() else { return takeActions() }
        let isAllowed = configuration.allowedAddresses?.allows(offer.address) ?? true
        let address = isAllowed ? offer.address : creationAddress
        pace.reset(to: options.retryDelay)
        opening.sessionBegan(SessionID(offer.id))
        session = SessionRecord(
            id: SessionID(offer.id),
            creationAddress: creationAddress,
            ignoresControlLink: options.values.serverInstanceAddressIgnored,
            address: address,
            // No request is sent before a `CONOK` has named the limit.
            requestLimit: 0,
            cursor: RecoveryCursor(processed: offer.processed)
        )
        // Requests of the other client may have had the identifiers below.
        requests.skipIDs(upTo: SubscriptionStore.reservedNumbers + offer.processed)
        requests.controls.sessionRequested(options.values.requestedMaxBandwidth)
        numberEvents()
        out.setProperty(.sessionId(offer.id))
        if address != creationAddress { out.setProperty(.serverInstanceAddress(address)) }
        perform(requests.subscriptions.adopt(adopted), at: context)
        opening.cause = "ws.error"
        let since = pace.interrupted(at: context.now)
        state.transition(to: .recovering(Recovery(since: since, step: .firstPause)))
        pace.pauseOmitted()
        out.setStatus(.disconnectedTryingRecovery)
        startRecoveryDeadline(at: context)
        recover(at: context)
        return takeActions()
    }

    /// Leaves the session to another client: closes its connections, and sends nothing to the server.
    package mutating func abandon(at context: EventContext) -> [SessionAction] {
        if !state.isIdle { terminate(at: context) }
        return takeActions()
    }
}
