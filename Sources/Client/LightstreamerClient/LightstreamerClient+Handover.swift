package import SessionCore

/// Lets the sessions of a client be handed over to other clients, of this process or of others, which continue them
/// without loss.
///
/// The client that has the session makes it known as `offeredSession`, together with the number and the values of each
/// subscription after `notificationNumber`, and sets `isSessionOffered`. Another client, never connected before, calls
/// `adopt`; the server repeats to it all that follows. The first one leaves by `abandon`, or as soon as `isOwner` says
/// that it has lost the session: two clients that recover one session would take the data from each other.
package struct SessionHandover: Sendable {
    /// Asked before each connection for an offered session: false if another client may have adopted it. The session is
    /// then abandoned.
    package var isOwner: @Sendable () -> Bool

    /// Sessions can be handed over as long as `isOwner` is true.
    package init(isOwner: @escaping @Sendable () -> Bool) { self.isOwner = isOwner }
}

/// Handing a session over; only with `ClientConfiguration.handover`.
extension LightstreamerClient {
    /// The present session as another client can continue it after the present event; nil without a session. Only for
    /// observers.
    package var offeredSession: OfferedSession? {
        let details = connectionDetails
        guard let session = details.sessionId, let server = details.serverAddress else { return nil }
        let address = details.serverInstanceAddress ?? server
        return OfferedSession(id: session, address: address, processed: notificationNumber)
    }

    /// The number of the data notification that the present event comes from, 0 for the first events of a session. Only for
    /// observers.
    package var notificationNumber: Int { core.notificationNumber.load(ordering: .relaxed) }

    /// Whether other clients know the present session, so that they can adopt it.
    package var isSessionOffered: Bool {
        get { core.isSessionOffered.load(ordering: .relaxed) }
        set { core.isSessionOffered.store(newValue, ordering: .relaxed) }
    }

    /// Continues a session that another client has opened, with these inactive subscriptions, their `LS_subId`, and the
    /// values that they have after the processed data notifications. The server repeats all later notifications. If it
    /// refuses, the subscriptions are unsubscribed, and a new session follows. For a client that was never connected.
    package func adopt(
        _ session: OfferedSession,
        _ subscriptions: [(Subscription, number: Int, table: ValueTable)]
    ) {
        core.adopt(session, subscriptions)
    }

    /// Leaves the session to another client: closes the connections, and sends nothing to the server.
    package func abandon() { core.send(.abandon) }
}
