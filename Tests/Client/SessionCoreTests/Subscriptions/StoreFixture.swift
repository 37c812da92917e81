internal import SessionCore
internal import TLCP
internal import Testing

/// A subscription store with lines of the server as input and requests as output, both as text.
struct StoreFixture: ~Copyable {
    static let token = SubscriptionToken(1)

    var store = SubscriptionStore()
    private var ids = RequestIDGenerator()

    /// Feeds lines; the effects in order.
    mutating func receive(_ lines: String...) throws -> [SubscriptionEffect] {
        var effects: [SubscriptionEffect] = []
        for line in lines {
            effects += receive(try #require(try ServerNotification(parsing: Array(line.utf8)[...])))
        }
        return effects
    }

    /// Feeds one notification; the effects in order.
    mutating func receive(_ notification: ServerNotification) -> [SubscriptionEffect] {
        var effects: [SubscriptionEffect] = []
        store.received(notification)
        swap(&effects, &store.effects)
        return effects
    }

    /// Whether nothing is due.
    mutating func isIdle() -> Bool { store.requests.isEmpty }

    /// The requests that are due, as they go over a WebSocket.
    mutating func send() -> [String] { take(acknowledged: false) }

    /// The requests that are due, as they go over HTTP.
    mutating func post() -> [String] { take(acknowledged: true) }

    private mutating func take(acknowledged: Bool) -> [String] {
        store.takePendingRequests(acknowledged: acknowledged, ids: &ids).map {
            String(decoding: $0.encoded, as: UTF8.self)
        }
    }

    /// As many requests as the count says.
    mutating func post(atMost count: Int) -> [String] {
        var room = count
        return store.takePendingRequests(acknowledged: true, ids: &ids) { _ in
            room -= 1
            return room >= 0
        }.map { String(decoding: $0.encoded, as: UTF8.self) }
    }

    /// `REQOK`.
    mutating func accept(_ id: Int) -> [SubscriptionEffect]? { store.requestAnswered(RequestID(id), .accepted) }

    /// `REQERR`.
    mutating func refuse(_ id: Int, _ code: Int = -5, _ message: String = "no") -> [SubscriptionEffect]? {
        store.requestAnswered(RequestID(id), .refused(code: code, message: message))
    }

    /// A store with one subscription whose add was written (request 1, subscription 1).
    static func added(_ properties: SubscriptionProperties = .merge(), acknowledged: Bool = false) -> StoreFixture {
        var fixture = StoreFixture()
        _ = fixture.store.subscribe(token, properties)
        _ = fixture.take(acknowledged: acknowledged)
        return fixture
    }

    /// A store with one subscription that is active on the server.
    static func subscribed(_ properties: SubscriptionProperties = .merge()) throws -> StoreFixture {
        var fixture = added(properties)
        let items = properties.items.names?.count ?? 1
        let fields = properties.fields.names?.count ?? 2
        _ = try fixture.receive(
            properties.mode == .command
                ? "SUBCMD,1,\(items),\(fields),\(fields - 1),\(fields)" : "SUBOK,1,\(items),\(fields)"
        )
        return fixture
    }
}

extension SubscriptionProperties {
    static func merge(_ fields: [String] = ["f1", "f2"], items: [String] = ["i1", "i2"]) -> SubscriptionProperties {
        SubscriptionProperties(mode: .merge, items: .list(items), fields: .list(fields))
    }

    static func plain(_ mode: SubscriptionMode) -> SubscriptionProperties {
        SubscriptionProperties(mode: mode, items: .list(["i1", "i2"]), fields: .list(["f1", "f2"]))
    }

    static func command() -> SubscriptionProperties {
        SubscriptionProperties(
            mode: .command,
            items: .list(["i1", "i2"]),
            fields: .list(["f1", "f2", "key", "command"])
        )
    }

    static func twoLevel() -> SubscriptionProperties {
        var properties = command()
        properties.requestedSnapshot = .no
        properties.secondLevelFields = .list(["f5", "f6"])
        properties.secondLevelDataAdapter = "adapter2"
        return properties
    }

    func with(_ change: (inout SubscriptionProperties) -> Void) -> SubscriptionProperties {
        var copy = self
        change(&copy)
        return copy
    }
}

extension [SubscriptionEffect] {
    /// The events of the users, abbreviated: `s0`, `u1 snap f=[1,2] a|b`, … Requests are shown as `>`, violations as
    /// `!`.
    var brief: [String] { map(\.brief) }
}

extension [SubscriptionEffect]? {
    var brief: [String]? { self?.brief }
}

extension SubscriptionEffect {
    var brief: String {
        switch self {
        case .notify(let token, let event): (token == StoreFixture.token ? "" : "#\(token.rawValue) ") + event.brief
        case .requestsWaiting: ">"
        case .protocolViolation: "!"
        }
    }
}

extension SubscriptionEvent {
    var brief: String {
        switch self {
        case .subscribed(let items, let fields, let key, let command):
            "subscribed \(items) \(fields)" + (key.map { " \($0)" } ?? "") + (command.map { " \($0)" } ?? "")
        case .unsubscribed(let isFinal): isFinal ? "removed" : "unsubscribed"
        case .failed(let code, let message): "failed \(code) \(message)"
        case .update(let update): update.brief
        case .endOfSnapshot(let item): "eos \(item)"
        case .clearSnapshot(let item): "cs \(item)"
        case .lostUpdates(let count, let item): "lost \(count) of \(item)"
        case .secondLevelFailed(let code, let message, let key): "failed \(code) \(message) at \(key)"
        case .secondLevelLostUpdates(let count, let key): "lost \(count) at \(key)"
        case .realMaxFrequency(.limited(let frequency)): "frequency \(frequency)"
        case .realMaxFrequency(.unlimited): "frequency unlimited"
        case .realMaxFrequency(nil): "frequency nil"
        }
    }
}

extension ItemUpdate {
    /// `item[*] values {changed}`: the asterisk marks the snapshot, `#` is null, `$` is empty.
    var brief: String {
        let shown = values.map { $0.map { $0.isEmpty ? "$" : $0 } ?? "#" }.joined(separator: "|")
        let positions = changed.positions.map(String.init).joined(separator: " ")
        return "\(itemPos)\(isSnapshot ? "*" : "") \(shown) {\(positions)}"
    }
}
