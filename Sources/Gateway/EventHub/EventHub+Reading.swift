package import Changes
package import JSONText
package import SessionCore

/// The present state of a subscription, for readers that are no streams.
package struct SubscriptionSnapshot: Sendable {
    /// The values of the subscription.
    package let table: ValueTable
    /// Whether the subscription is active.
    package let isActive: Bool
    /// Why the server last refused or removed the subscription; nil since it was activated or confirmed.
    package let lastError: UpstreamRefusal?
    /// The client that carries the subscription; nil: none.
    package let client: ClientID?
    /// The status of that client; nil without one.
    package let status: ClientStatus?

    package var version: ValuesVersion { ValuesVersion(table: table.version, isActive: isActive, status: status) }
}

/// The version of the values of a subscription: equal versions mean equal values of equal state.
package struct ValuesVersion: Sendable, Equatable {
    let table: UInt64
    /// Whether the subscription is active.
    package let isActive: Bool
    /// The status of the client that carries the subscription; nil without one.
    let status: ClientStatus?
}

extension EventHub {
    /// The present state of a subscription; nil for an unknown one.
    package func snapshot(of subscription: SubscriptionID) -> SubscriptionSnapshot? {
        locked { state in
            state.topics.subscriptions[subscription].map { record in
                SubscriptionSnapshot(
                    table: record.table,
                    isActive: record.isActive,
                    lastError: record.lastError,
                    client: record.client,
                    status: record.client.flatMap { state.topics.clients[$0]?.status }
                )
            }
        }
    }

    /// The version of the values of a subscription; nil for an unknown one.
    package func version(of subscription: SubscriptionID) -> ValuesVersion? {
        locked { state in
            // Each look into the dictionary copies the record.
            state.topics.subscriptions[subscription].map { record in
                ValuesVersion(
                    table: record.table.version,
                    isActive: record.isActive,
                    status: record.client.flatMap { state.topics.clients[$0]?.status }
                )
            }
        }
    }

    /// Reads the table of a subscription; nil for an unknown one. The body runs under the hub's lock, so that no change has to
    /// copy the table meanwhile.
    package func read<Result: Sendable>(
        _ subscription: SubscriptionID,
        _ body: (_ table: ValueTable, _ isActive: Bool) -> Result
    ) -> Result? {
        locked { $0.topics.subscriptions[subscription].map { body($0.table, $0.isActive) } }
    }

    /// Writes a source with its present state, in the form of the `stream` event without the members that only this event has.
    package func write(_ source: StreamSource, to json: inout JSONBytes) {
        let state = locked { SourceState(of: source.topic, in: $0.topics) } ?? .unknown(source.topic)
        json.write(state, isWhole: false)
    }

    /// Calls back after each change of a subscription, on the thread that made the change and outside the hub's lock.
    /// The callback must not wait. Its result ends the watch when it is given to `unwatch`.
    package func watch(_ subscription: SubscriptionID, _ changed: @escaping @Sendable () -> Void) -> UInt64 {
        locked { $0.watches.add(subscription, changed) }
    }

    package func unwatch(_ watch: UInt64, of subscription: SubscriptionID) {
        locked { $0.watches.remove(watch, of: subscription) }
    }
}
