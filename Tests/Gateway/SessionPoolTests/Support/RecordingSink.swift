import Changes
import JSONText
import Primitives
import SessionCore
import SessionPool
import Synchronization

/// Records the subscription resources of a pool, and the clients that carry them.
final class RecordingSink: PoolSink {
    struct State {
        var resources: Set<SubscriptionID> = []
        var carried: [SubscriptionID: ClientID] = [:]
        var changed: [SubscriptionProperties] = []
        var faults: [String] = []
        /// The changes of clients.
        var ofClients: [Change] = []
        /// The events of the subscriptions, in the order of the reports.
        var events: [SubscriptionID: [SubscriptionEvent]] = [:]
        /// How many subscriptions the client had when it began to carry one.
        var subscriptionsBefore: [Int] = []
    }

    private let state = Mutex(State())
    /// Finds a client that was added; nil: the numbers of subscriptions are not recorded.
    let findClient = Mutex<(@Sendable (ClientID) -> PooledClient?)?>(nil)
    private let clients = Mutex<[ClientID: PooledClient]>([:])
    /// The subscriptions that streams carry.
    let read = Mutex<Set<SubscriptionID>>([])
    /// When streams ceased to carry subscriptions.
    let ends = Mutex<[SubscriptionID: Moment]>([:])
    /// When streams of other processes ceased to carry clients and subscriptions.
    let elsewhere = Mutex<[TopicID: Moment]>([:])
    /// The answers about streams that are held back; nil: each is given at once.
    let heldAnswers = Mutex<[@Sendable () -> Void]?>(nil)
    /// The call that has each event delivered; nil: none is needed.
    let delivery = Mutex<(@Sendable () -> Void)?>(nil)

    /// The present state.
    var present: State { state.withLock { $0 } }

    func take(_ change: Change) { take([change]) }

    func take(_ changes: [Change]) {
        for case .client(let id, .added) in changes {
            if let client = findClient.withLock({ $0 })?(id) { clients.withLock { $0[id] = client } }
        }
        for change in changes {
            switch change {
            case .client: state.withLock { $0.ofClients.append(change) }
            case .subscription(let id, let change): record(change, of: id)
            }
        }
    }

    func publish(_ event: SubscriptionEvent, of id: SubscriptionID) -> (@Sendable () -> Void)? {
        take(.subscription(id, .event(event)))
        return delivery.withLock { $0 }
    }

    private func record(_ change: SubscriptionChange, of id: SubscriptionID) {
        switch change {
        case .added:
            state.withLock { if !$0.resources.insert(id).inserted { $0.faults.append("added twice") } }
        case .propertiesChanged(let properties): state.withLock { $0.changed.append(properties) }
        case .carried(let client?):
            // Not looked up here, where the pool has the lock of the shared subscription.
            let count = clients.withLock { $0[client] }?.core.subscriptions.count
            state.withLock { state in
                if !state.resources.contains(id) { state.faults.append("an unknown subscription joined") }
                if let count { state.subscriptionsBefore.append(count) }
                if state.carried.updateValue(client, forKey: id) != nil { state.faults.append("joined twice") }
            }
        case .carried(nil):
            state.withLock { if $0.carried.removeValue(forKey: id) == nil { $0.faults.append("left twice") } }
        case .removed:
            state.withLock { state in
                if state.resources.remove(id) == nil { state.faults.append("removed twice") }
                if state.carried[id] != nil { state.faults.append("removed while carried") }
            }
        case .event(let event): state.withLock { $0.events[id, default: []].append(event) }
        case .activity: break
        }
    }

    func take(_ change: Change, number: UInt64) {}
    func take(_ change: SessionChange) {}
    var ownsSessions: Bool { true }
    func lastRead(subscription id: SubscriptionID) -> Moment? {
        read.withLock { $0.contains(id) } ? .never : ends.withLock { $0[id] }
    }
    func lastReads(of topics: [TopicID], _ done: @escaping @Sendable ([TopicID: Moment]) -> Void) {
        var reads = elsewhere.withLock { $0 }
        for case .subscription(let id) in topics {
            guard let read = lastRead(subscription: id) else { continue }
            reads[.subscription(id)] = max(read, reads[.subscription(id)] ?? read)
        }
        let answer: @Sendable () -> Void = { [reads] in done(reads) }
        if heldAnswers.withLock({ $0?.append(answer) }) == nil { answer() }
    }
    func shownValue(of property: String, on client: PooledClient) -> JSONValue? { nil }
    func lastFailure(of client: PooledClient) -> LastFailure? {
        client.trouble.map { trouble in
            LastFailure(
                reason: trouble.kind.rawValue,
                code: trouble.code,
                detail: "",
                since: "",
                attempts: trouble.attempts,
                nextAttempt: trouble.nextAttempt.map { "\($0)" }
            )
        }
    }
}
