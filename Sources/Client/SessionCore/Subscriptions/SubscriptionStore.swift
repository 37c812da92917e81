package import TLCP

/// Identifies the subscription object of one `subscribe` call within the machines; never on the wire.
public struct SubscriptionToken: Sendable, Hashable {
    /// A number unique within its process.
    public let rawValue: UInt64

    /// Wraps a number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// All subscriptions of one client, including second levels and zombies.
///
/// Each `subscribe` call has a `SubscriptionMachine` and an `LS_subId` of its own, which it keeps over sessions.
/// Effects are to be carried out in their order. After `protocolViolation` the caller closes the session with error 61,
/// and then calls `sessionEnded` as at any other end.
package struct SubscriptionStore: ~Copyable {
    var machines: [SubscriptionID: SubscriptionMachine] = [:]
    /// The machine of each active subscription of the user.
    private var active: [SubscriptionToken: SubscriptionID] = [:]
    /// The requests of the machines.
    package internal(set) var requests = SubscriptionRequests()
    /// The number of zombies among the machines.
    private var zombieCount = 0
    private var lastID = 0
    /// The effects of a line or of an answer, in order; none between calls, once the caller has swapped those of a line for an
    /// empty list, whose memory serves for the next line.
    package var effects: [SubscriptionEffect] = []

    /// How many numbers another client may have used beyond those that are known, when its session is adopted. It is
    /// far above the number of requests that can be under way.
    static let reservedNumbers = 10_000

    /// The most zombies that wait for the answer to a delete: a server that sends lines of ever more subscriptions, and
    /// answers nothing, takes no more memory.
    package static let maxZombies = 1_000

    /// The number of unanswered requests beyond which the answer to a delete is not awaited: a server that answers no delete takes
    /// no more memory, however often its lines cause one, as by a key of a two-level subscription that comes and goes.
    package static let maxUnanswered = 20_000

    /// A store without subscriptions. A client has one store for its whole life, because `LS_subId` is never reset.
    package init() {}

    // MARK: - Commands

    /// `subscribe`; the properties are already checked. A token that is active is ignored.
    package mutating func subscribe(
        _ token: SubscriptionToken,
        _ properties: SubscriptionProperties
    ) -> [SubscriptionEffect] {
        guard active[token] == nil else { return [] }
        let id = nextID()
        machines[id] = SubscriptionMachine(id, role: .user(token), properties: properties)
        active[token] = id
        requests.add(id)
        return [.requestsWaiting]
    }

    /// The `LS_subId` of an active subscription.
    func number(of token: SubscriptionToken) -> Int? { active[token]?.rawValue }

    /// Takes over the subscriptions of a session that another client has opened. New subscriptions get numbers that
    /// the other client has not used.
    mutating func adopt(_ adopted: [AdoptedSubscription]) -> [SubscriptionEffect] {
        lastID = (adopted.map(\.number).max() ?? 0) + Self.reservedNumbers
        var effects: [SubscriptionEffect] = []
        for subscription in adopted {
            if let machine = SubscriptionMachine(subscription), machines[machine.id] == nil {
                machines[machine.id] = machine
                active[subscription.token] = machine.id
            } else {
                effects += subscribe(subscription.token, subscription.table.properties)
            }
        }
        return effects
    }

    /// `unsubscribe`; an unknown token is ignored. The event does not wait for the server.
    package mutating func unsubscribe(_ token: SubscriptionToken) -> [SubscriptionEffect] {
        guard let id = active.removeValue(forKey: token), let secondLevels = machines[id]?.secondLevels else {
            return []
        }
        var isRequestDue = release(secondLevels)
        var effects: [SubscriptionEffect] = []
        if let removal = machines[id]?.remove() {
            if removal == .deleting(wasSubscribed: true) {
                effects.append(.notify(token, .unsubscribed(isFinal: false)))
            }
            if settle(id, removal) { isRequestDue = true }
        }
        if isRequestDue { effects.append(.requestsWaiting) }
        return effects
    }

    /// `requestedMaxFrequency` was set while active; an unknown token is ignored. The caller has checked that it is
    /// neither nil nor `unfiltered`, and was not `unfiltered`.
    package mutating func changeMaxFrequency(
        _ token: SubscriptionToken,
        _ frequency: RequestedMaxFrequency?
    ) -> [SubscriptionEffect] {
        guard let id = active[token], let secondLevels = machines[id]?.secondLevels else { return [] }
        var isRequestDue = false
        for id in secondLevels + [id] {
            machines[id]?.changeMaxFrequency(frequency)
            if machines[id]?.stage.request != .due {
                requests.settle(id)
            } else if requestDue(id) {
                isRequestDue = true
            }
        }
        return isRequestDue ? [.requestsWaiting] : []
    }

    // MARK: - Requests

    /// The control requests to be (re)sent now, in order, each with a fresh identifier; they count as written.
    ///
    /// The order is that of creation; a reconf of a first level comes after those of its second levels. `acknowledged`
    /// is false over a WebSocket, where `SUBOK`, `SUBCMD` and `UNSUB` are sufficient answers. `fits` is called for each
    /// request; the first one that does not fit stays pending, with all that follow.
    package mutating func takePendingRequests(
        atMost count: Int = .max,
        acknowledged: Bool,
        ids: inout RequestIDGenerator,
        where fits: (ClientRequest) -> Bool = { _ in true }
    ) -> [ClientRequest] {
        var taken: [ClientRequest] = []
        while taken.count < count, let id = requests.next() {
            let requestID = ids.next()
            guard let request = machines[id]?.pendingRequest(requestID, acknowledged: acknowledged) else {
                requests.settle(id)
                continue
            }
            guard fits(.control(request)) else { break }
            taken.append(.control(request))
            requests.written(id, as: requestID)
            machines[id]?.requestWritten(as: requestID)
            if requests.unanswered.count > Self.maxUnanswered, case .deleting? = machines[id]?.stage { forget(id) }
        }
        return taken
    }

    /// `REQOK` or `REQERR`. Nil: not a request of this store (or an outdated copy).
    package mutating func requestAnswered(_ request: RequestID, _ answer: RequestAnswer) -> [SubscriptionEffect]? {
        guard let id = requests.answered(request) else { return nil }
        guard machines[id]?.stage.request == .sent(request) else { return [] }
        switch answer {
        case .accepted: return take(machines[id]?.accepted(), of: id)
        case .refused(let code, let message): return take(machines[id]?.refused(code: code, message: message), of: id)
        }
    }

    /// The request that would be written next cannot be sent: it counts as refused.
    package mutating func refuseNext(code: Int, message: String) -> [SubscriptionEffect] {
        guard let id = requests.next() else { return [] }
        requests.settle(id)
        return take(machines[id]?.requestDropped(code: code, message: message), of: id)
    }

    private mutating func take(_ reply: SubscriptionReply?, of id: SubscriptionID) -> [SubscriptionEffect] {
        switch reply {
        case .nothing, nil: break
        case .requestDue:
            requestDue(id)
            effects.append(.requestsWaiting)
        case .failed(let code, let message):
            failed(id, code: code, message: message)
            forget(id)
        case .finished: forget(id)
        }
        var list: [SubscriptionEffect] = []
        if !effects.isEmpty { swap(&list, &effects) }
        return list
    }

    // MARK: - Ends

    /// The connection that carried the requests is gone, or the control response is complete: unanswered requests are
    /// pending again, and answers to the copies written so far are ignored. `held`: the copies that stay unanswered.
    package mutating func channelLost(except held: Set<RequestID> = []) {
        for id in requests.channelLost(except: held) where machines[id]?.channelLost() == true { requestDue(id) }
    }

    /// The session ended, for any cause. The events are in creation order; only active subscriptions are kept for the
    /// next session.
    package mutating func sessionEnded() -> [SubscriptionEffect] {
        requests = SubscriptionRequests()
        zombieCount = 0
        var effects: [SubscriptionEffect] = []
        for id in machines.keys.sorted() {
            guard let wasSubscribed = machines[id]?.sessionEnded(), case .user(let token)? = machines[id]?.role else {
                machines[id] = nil
                continue
            }
            requestDue(id)
            if wasSubscribed { effects.append(.notify(token, .unsubscribed(isFinal: false))) }
        }
        return effects
    }

    /// The subscription failed: emits the event, and makes it inactive.
    mutating func failed(_ id: SubscriptionID, code: Int, message: String) {
        switch machines[id]?.role {
        case .user(let token):
            active[token] = nil
            effects.append(.notify(token, .failed(code: code, message: message)))
        case .secondLevel: secondLevelLost(id, failure: (code, message))
        case .zombie, nil: break
        }
    }

    /// `UNSUB`. An unknown subscription is ignored.
    mutating func removedByServer(_ id: SubscriptionID) {
        guard let machine = machines[id] else { return }
        switch (machine.role, machine.stage) {
        case (.zombie, _), (_, .deleting): break
        case (.secondLevel, _): secondLevelLost(id, failure: nil)
        case (.user, .adding), (.user, .acknowledged):
            failed(id, code: 61, message: "Removed by the server before it was active")
        case (.user(let token), .subscribed):
            if release(machine.secondLevels) { effects.append(.requestsWaiting) }
            active[token] = nil
            effects.append(.notify(token, .unsubscribed(isFinal: true)))
        }
        forget(id)
    }

    // MARK: - Bookkeeping

    /// The next `LS_subId`. Skips the numbers of zombies, which the server has chosen.
    mutating func nextID() -> SubscriptionID {
        repeat { lastID &+= 1 } while machines[SubscriptionID(lastID)] != nil
        return SubscriptionID(lastID)
    }

    /// Marks a machine as having a request to write; false if it was marked already.
    @discardableResult
    mutating func requestDue(_ id: SubscriptionID) -> Bool {
        if case .subscribed? = machines[id]?.stage, machines[id]?.isTwoLevel == true { return requests.addLast(id) }
        return requests.add(id)
    }

    /// Removes a machine and its request under way.
    mutating func forget(_ id: SubscriptionID) {
        guard let machine = machines.removeValue(forKey: id) else { return }
        requests.settle(id, machine.stage.request)
        if machine.role == .zombie { zombieCount -= 1 }
    }

    /// The server has a subscription unknown to the client: it is to be removed. While too many deletes are unanswered,
    /// the line is ignored; one that follows later makes the delete due.
    mutating func addZombie(_ id: SubscriptionID) {
        guard zombieCount < Self.maxZombies else { return }
        zombieCount += 1
        machines[id] = SubscriptionMachine(zombie: id)
        requestDue(id)
        effects.append(.requestsWaiting)
    }

    /// Performs the consequences of a removal; true: a request is due.
    mutating func settle(_ id: SubscriptionID, _ removal: SubscriptionMachine.Removal) -> Bool {
        switch removal {
        case .none:
            return false
        case .forgotten:
            forget(id)
            return false
        case .deleting:
            requestDue(id)
            return true
        }
    }
}

/// The requests of a client's subscriptions: those to be written, in the order of creation, and those that wait for an answer.
package struct SubscriptionRequests: Sendable {
    /// The subscriptions with a request to be written, except those in `last`.
    private var due = DueQueue<SubscriptionID>()
    /// First levels whose reconf waits for the reconfs of their second levels.
    private var last = DueQueue<SubscriptionID>()
    /// The last copy of each request that was written and not answered.
    private(set) var unanswered: [RequestID: SubscriptionID] = [:]

    /// Whether no request is to be written.
    package var isEmpty: Bool {
        if !due.isEmpty { return false }
        return last.isEmpty
    }

    /// A request of a subscription is to be written; false if this is known.
    @discardableResult
    mutating func add(_ id: SubscriptionID) -> Bool {
        last.remove(id)
        return due.insert(id)
    }

    /// A request is to be written after the requests of all other subscriptions; false if this is known.
    mutating func addLast(_ id: SubscriptionID) -> Bool { last.insert(id) }

    /// The subscription whose request is to be written next.
    mutating func next() -> SubscriptionID? {
        if let id = due.first() { return id }
        return last.first()
    }

    mutating func written(_ id: SubscriptionID, as request: RequestID) {
        settle(id)
        unanswered[request] = id
    }

    /// Nothing is to be written for a subscription. The answer to its request under way is ignored.
    mutating func settle(_ id: SubscriptionID, _ request: RequestProgress? = nil) {
        due.remove(id)
        last.remove(id)
        if case .sent(let request) = request { unanswered[request] = nil }
    }

    /// A request was answered; nil: it is none of these, or an outdated copy.
    mutating func answered(_ request: RequestID) -> SubscriptionID? { unanswered.removeValue(forKey: request) }

    /// Requests that wait for an answer, except held ones, get none. Returns their subscriptions.
    mutating func channelLost(except held: Set<RequestID>) -> [SubscriptionID] {
        let lost = unanswered.filter { !held.contains($0.key) }
        for request in lost.keys { unanswered[request] = nil }
        return Array(lost.values)
    }
}

/// An order of the subscription store to the session machine; performed in the order of the list.
package enum SubscriptionEffect: Sendable, Equatable {
    /// Deliver an event of a subscription to the user.
    case notify(SubscriptionToken, SubscriptionEvent)
    /// Requests are pending: call `takePendingRequests` as soon as a control channel is free. This effect precedes an
    /// event that must not be dispatched before the request is sent.
    case requestsWaiting
    /// The server broke the protocol: the session is to be closed with error 61 and this text.
    case protocolViolation(String)
}
