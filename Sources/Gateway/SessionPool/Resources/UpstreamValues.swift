internal import SessionCore
internal import Synchronization

/// The values that the subscriptions of an upstream keep, compared with a budget.
package final class UpstreamValues: Sendable {
    private let bytes = Atomic<Int>(0)
    private let most: Atomic<Int>

    /// No values. A limit of 0 is none.
    init(limit: Int) { most = Atomic(limit > 0 ? limit : .max) }

    /// The approximate size of all values in bytes.
    package var used: Int { bytes.load(ordering: .relaxed) }
    /// The budget in bytes; `Int.max` without one.
    package var limit: Int { most.load(ordering: .relaxed) }

    /// Replaces the budget. A limit of 0 is none.
    func setLimit(_ limit: Int) { most.store(limit > 0 ? limit : .max, ordering: .relaxed) }

    /// The values of a subscription have grown by a number of bytes, or shrunk. False if they have grown beyond the
    /// budget.
    func add(_ count: Int) -> Bool {
        let total = bytes.wrappingAdd(count, ordering: .relaxed).newValue
        return count <= 0 || total <= limit
    }

    /// The event with which a subscription ends whose values exceed the budget.
    func refusal() -> SubscriptionEvent {
        .failed(
            code: -1,
            message:
                "The values of the upstream exceed the \(limit) bytes of maxValues: the gateway ended the subscription."
        )
    }
}
