internal import JSONText

/// A consumer that keeps the values of a stream in a table, by the rule of `StreamOpenedEvent` in openapi.yaml.
struct TableReader: Equatable {
    /// The fields by item, or by item and key.
    private(set) var rows: [String: [String: JSONValue]] = [:]
    private(set) var isSubscribed = false

    mutating func apply(_ event: TestStream.Event) {
        let item = event["itemPos"]?.number?.text ?? ""
        switch event.name {
        case "stream":
            if event["resume"]?.string != "resumed" { rows.removeAll() }
        case "subscribed", "unsubscribed":
            rows.removeAll()
            isSubscribed = event.name == "subscribed"
        case "clear-snapshot":
            rows = rows.filter { !$0.key.hasPrefix("\(item)/") }
        case "update":
            let name = "\(item)/\(event["key"]?.string ?? "")"
            switch event["command"]?.string {
            case "DELETE": rows[name] = nil
            case "ADD": rows[name] = members(of: event)
            default: rows[name, default: [:]].merge(members(of: event)) { $1 }
            }
        default:
            break
        }
    }

    private func members(of event: TestStream.Event) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for member in event["fields"]?.object ?? JSONObject() { members[member.name] = member.value }
        return members
    }

    init() {}

    init(_ events: some Sequence<TestStream.Event>) {
        for event in events { apply(event) }
    }
}
