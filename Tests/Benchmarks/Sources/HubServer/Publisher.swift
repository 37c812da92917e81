internal import Changes
internal import EventHub
internal import Glibc
internal import MicroHTTPD
internal import SessionCore

/// Publishes updates at a rate, to one topic and item after the other. Each contains the time of its publication.
struct Publisher {
    private let hub: EventHub
    private let options: ServerOptions
    private let properties: SubscriptionProperties
    private let layout: SubscriptionLayout
    private let changed: FieldSet
    private let topics: [SubscriptionID]
    private var count = 0

    /// A publisher whose topics exist and are subscribed.
    init(hub: EventHub, options: ServerOptions) {
        self.hub = hub
        self.options = options
        topics = (0..<options.topics).map { SubscriptionID("s\($0)") }
        let names = (1...options.items).map { "item\($0)" }
        let fields = ["last_price", "at"] + (2..<options.fields).map { "price_\($0)" }
        changed = FieldSet(all: fields.count)
        properties = SubscriptionProperties(mode: .merge, items: .list(names), fields: .list(fields))
        layout = SubscriptionLayout(itemNames: names, fieldNames: fields, fieldCount: fields.count)
        hub.take(.client(ClientID("c1"), .added(.connectedWSStreaming)))
        for topic in 0..<options.topics + options.quiet {
            let id = SubscriptionID("s\(topic)")
            hub.take(.subscription(id, .added(properties)))
            hub.take(.subscription(id, .carried(by: ClientID("c1"))))
            let subscribed = SubscriptionEvent.subscribed(
                itemCount: names.count,
                fieldCount: fields.count,
                keyPosition: nil,
                commandPosition: nil
            )
            hub.take(.subscription(id, .event(subscribed)))
        }
    }

    /// Publishes without end. Overdue updates are skipped.
    mutating func run() -> Never {
        var next = Moment.monotonic()
        while true {
            guard options.rate > 0 else {
                sleep(1)
                continue
            }
            var moment = timespec(
                tv_sec: Int(next.nanoseconds / 1_000_000_000),
                tv_nsec: Int(next.nanoseconds % 1_000_000_000)
            )
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nil)
            for _ in 0..<options.burst { publish() }
            let now = Moment.monotonic()
            next = next + .seconds(1) * options.burst / options.rate
            if now > next + .milliseconds(100) { next = now }
        }
    }

    /// Publishes an update of each item.
    mutating func fill() {
        for _ in 0..<options.topics * options.items { publish() }
    }

    private mutating func publish() {
        let topic = count % options.topics
        let update = ItemUpdate(
            layout: layout,
            itemPos: count / options.topics % options.items + 1,
            isSnapshot: false,
            values: ["\(count % 90 + 10).25", "@\(Moment.monotonic().nanoseconds)"]
                + (2..<options.fields).map { "\(count * (2 * $0 + 1) % 90 + 10).25" },
            changed: changed
        )
        count += 1
        hub.take(.subscription(topics[topic], .event(.update(update))))
    }
}
