import Changes
import Replication
import SessionCore

/// An upstream server: each session keeps its notifications, so that a client can continue it after any of them.
final class SimulatedUpstream {
    /// A notification of a subscription, by the number of the subscription in its session.
    enum Notification {
        case subscribed(Int)
        case update(Int, value: Int)
    }

    final class Session {
        let name: String
        var subscriptions: Set<Int> = []
        var notifications: [Notification] = []
        /// The node that reads it.
        var reader: Int
        /// How many values were sent since it was read last.
        var unread = 0

        init(name: String, reader: Int) {
            self.name = name
            self.reader = reader
        }

        func subscribe(_ number: Int) {
            subscriptions.insert(number)
            notifications.append(.subscribed(number))
        }
    }

    /// The number of values after which a session that no node reads ends.
    private static let patience = 1300
    private(set) var sessions: [String: Session] = [:]
    /// The number of sessions that were opened.
    private(set) var opened = 0

    func open(by node: Int) -> Session {
        opened += 1
        let session = Session(name: "session\(opened)", reader: node)
        sessions[session.name] = session
        return session
    }

    /// Sends a value to all subscriptions.
    func send(_ value: Int) {
        for session in sessions.values {
            session.unread += 1
            if session.unread > Self.patience { sessions[session.name] = nil }
            for number in session.subscriptions.sorted() { session.notifications.append(.update(number, value: value)) }
        }
    }

    /// The number of subscriptions in sessions that these nodes read.
    func subscriptions(readBy nodes: [Int]) -> Int {
        sessions.values.filter { nodes.contains($0.reader) }.reduce(0) { $0 + $1.subscriptions.count }
    }
}

/// A client of a node, which carries the shared subscriptions of one group.
struct SimulatedClient {
    let id: String
    let session: SimulatedUpstream.Session
    /// Whether the node reads the session. It continues an adopted one once it owns its sessions for certain.
    var isReading = true
    /// The number of notifications that were read.
    var cursor = 0
    /// The shared subscriptions by number.
    var topics: [Int: String] = [:]
    var lastNumber = 0
}

/// The upstream sessions of a node.
extension SimulatedNode {
    static func layout(of id: String) -> SubscriptionLayout {
        SubscriptionLayout(itemNames: [id], fieldNames: ["number"], fieldCount: 1)
    }

    func carry(_ id: String, _ key: SharedTopicKey, term: UInt64) {
        drop(id)
        outbox.begin(id, term: term)
        let group = machine.ledger?.topics.group(of: id, key) ?? 0
        if clients[group] == nil { clients[group] = makeClient() }
        carried[id] = Self.layout(of: id)
        clients[group]?.lastNumber += 1
        guard let client = clients[group] else { return }
        clients[group]?.topics[client.lastNumber] = id
        client.session.subscribe(client.lastNumber)
        _ = outbox.append(.subscription(SubscriptionID(id), .carried(by: ClientID(client.id))))
    }

    private func makeClient() -> SimulatedClient {
        let session = upstream.open(by: number)
        let client = SimulatedClient(id: "c-\(session.name)", session: session)
        _ = outbox.append(.client(ClientID(client.id), .added(.connectedWSStreaming)))
        outbox.offer(OfferedUpstreamSession(content: Array(session.name.utf8), processed: 0), of: client.id)
        return client
    }

    /// Continues a session if the server still has it; otherwise subscribes again.
    func adopt(_ inherited: InheritedSession) {
        for topic in inherited.topics {
            drop(topic.id)
            outbox.begin(topic.id, term: topic.term)
        }
        outbox.adopt(client: inherited.client, .disconnectedTryingRecovery)
        let name = String(decoding: inherited.session.content, as: UTF8.self)
        guard let session = upstream.sessions[name], let first = inherited.topics.first,
            let group = machine.ledger?.topics.group(of: first.id, first.key)
        else {
            for topic in inherited.topics {
                report(.unsubscribed(isFinal: false), of: topic.id)
                _ = outbox.append(.subscription(SubscriptionID(topic.id), .carried(by: nil)))
            }
            _ = outbox.append(.client(ClientID(inherited.client), .removed))
            for topic in inherited.topics { carry(topic.id, topic.key, term: topic.term) }
            return
        }
        var client = SimulatedClient(
            id: inherited.client,
            session: session,
            isReading: false,
            cursor: Int(inherited.session.processed)
        )
        for topic in inherited.topics {
            client.topics[Int(topic.number)] = topic.id
            carried[topic.id] = Self.layout(of: topic.id)
        }
        client.lastNumber = (client.topics.keys.max() ?? 0) + 1000
        clients[group] = client
        adopted += 1
    }

    /// Leaves all sessions to other nodes.
    func dropAll() {
        for client in clients.values { outbox.release(client.id) }
        clients = [:]
        for id in carried.keys.sorted() { drop(id) }
    }

    /// Reads the notifications of the sessions. A session that another node reads was adopted. A member may read its removal later
    /// than its heir, by the time that messages take.
    func readSessions() {
        for (name, member, _) in lost.filter({ $0.until <= now() }) where machine.isMember && machine.member == member {
            problems.append("node \(number) shares \(name)")
        }
        lost.removeAll { $0.until <= now() }
        for (group, client) in clients.sorted(by: { $0.key < $1.key }) {
            let isOwner = machine.ownsSessions(at: now())
            if !client.isReading {
                guard isOwner else { continue }
                client.session.reader = number
                clients[group]?.isReading = true
            }
            if client.session.reader != number {
                if isOwner { lost.append((client.session.name, machine.member, now() + .milliseconds(100))) }
                clients[group] = nil
            } else if upstream.sessions[client.session.name] != nil {
                read(client, group)
            } else if isOwner {
                clients[group] = replaceSession(of: client)
            }
        }
    }

    /// The server has ended the session, which nobody has read for a long time: the client opens another one.
    private func replaceSession(of client: SimulatedClient) -> SimulatedClient {
        let session = upstream.open(by: number)
        outbox.offer(OfferedUpstreamSession(content: Array(session.name.utf8), processed: 0), of: client.id)
        for (number, id) in client.topics.sorted(by: { $0.key < $1.key }) {
            report(.unsubscribed(isFinal: false), of: id)
            session.subscribe(number)
        }
        return SimulatedClient(
            id: client.id,
            session: session,
            topics: client.topics,
            lastNumber: client.lastNumber
        )
    }

    private func read(_ client: SimulatedClient, _ group: UInt64) {
        client.session.unread = 0
        for notification in client.session.notifications[client.cursor...] {
            clients[group]?.cursor += 1
            let cursor = UInt64(clients[group]?.cursor ?? 0)
            switch notification {
            case .subscribed(let number):
                guard let id = client.topics[number] else {
                    client.session.subscriptions.remove(number)
                    continue
                }
                outbox.number(id, UInt64(number))
                let event = SubscriptionEvent.subscribed(
                    itemCount: 1,
                    fieldCount: 1,
                    keyPosition: nil,
                    commandPosition: nil
                )
                _ = outbox.append(.subscription(SubscriptionID(id), .event(event)), number: cursor)
            case .update(let number, let value):
                guard let id = client.topics[number], let layout = carried[id] else {
                    client.session.subscriptions.remove(number)
                    continue
                }
                let event = SubscriptionEvent.update(Self.update(String(value), layout))
                _ = outbox.append(.subscription(SubscriptionID(id), .event(event)), number: cursor)
            }
        }
    }

    func drop(_ id: String) {
        outbox.end(id)
        guard carried.removeValue(forKey: id) != nil else { return }
        for (group, client) in clients {
            for (number, topic) in client.topics where topic == id {
                clients[group]?.topics[number] = nil
                client.session.subscriptions.remove(number)
            }
        }
        report(.unsubscribed(isFinal: true), of: id)
        _ = outbox.append(.subscription(SubscriptionID(id), .carried(by: nil)))
        _ = outbox.append(.subscription(SubscriptionID(id), .removed))
    }

    func report(_ event: SubscriptionEvent, of id: String) {
        _ = outbox.append(.subscription(SubscriptionID(id), .event(event)))
    }
}
