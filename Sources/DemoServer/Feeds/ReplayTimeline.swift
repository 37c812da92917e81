/// Events that a manual feed publishes at given times, such as those of a recording.
package protocol ReplaySource: Sendable {
    /// Removes and returns the next events, in the order of their times; nil at the end.
    mutating func next() -> [ReplayedEvent]?
}

package struct ReplayedEvent: Sendable, Hashable {
    /// The time since the beginning of the replay.
    package var time: Duration
    package var adapter: String
    package var request: FeedRequest
    /// Whether the event is part of a snapshot.
    package var isSnapshot: Bool

    package init(time: Duration, adapter: String, request: FeedRequest, isSnapshot: Bool = false) {
        self.time = time
        self.adapter = adapter
        self.request = request
        self.isSnapshot = isSnapshot
    }
}

/// The recording that `DemoServerConfiguration.replay` plays, beginning with the first subscription to one of the manual feeds.
package struct ReplayConfiguration: Sendable {
    /// The events, at their beginning.
    package var source: any ReplaySource
    /// How many seconds of the replay pass in a second; greater than 0.
    package var speed: Double
    /// The events up to this time have happened before the first subscription, as have those of the first snapshot.
    package var start: Duration
    /// Whether the replay begins again a second after the last event. The first events of each round clear what the round
    /// before has left.
    package var loops: Bool

    package init(source: any ReplaySource, speed: Double = 1, start: Duration = .zero, loops: Bool = false) {
        self.source = source
        self.speed = speed
        self.start = start
        self.loops = loops
    }
}

/// Decides which events of a replay are due.
struct ReplayTimeline: Sendable {
    /// The time between the last event and the repetition.
    private static let pause = Duration.seconds(1)
    /// The most events that are published together, and the number of values from which on no further event is.
    private static let (mostEvents, mostValues) = (1_000, 1 << 16)

    private let configuration: ReplayConfiguration
    private var source: any ReplaySource
    private var pending: ArraySlice<ReplayedEvent> = []
    private var lastTime: Duration
    /// Whether all events so far were of the first snapshot.
    private var isInSnapshot = true
    /// When the replay was at `ReplayConfiguration.start`; nil before the first subscription.
    private var origin: Duration?

    init(_ configuration: ReplayConfiguration) {
        self.configuration = configuration
        source = configuration.source
        lastTime = configuration.start
    }

    /// The instant of the next event; nil before the start and after the end.
    var nextChange: Duration? {
        guard let origin else { return nil }
        return pending.first.map { origin + scaled($0.time) }
    }

    /// Removes and returns the next event that has happened before the replay starts; nil if there is none.
    mutating func pastEvent() -> ReplayedEvent? {
        guard let event = peek() else { return nil }
        isInSnapshot = isInSnapshot && event.isSnapshot
        let isPast = event.time <= configuration.start && configuration.start > .zero
        return isInSnapshot || isPast ? pending.popFirst() : nil
    }

    /// Starts the replay, unless it has started.
    mutating func start(at now: Duration) { if origin == nil { origin = now } }

    /// Removes and returns the events up to an instant, or the first of very many: the instant of the next event is past then. A
    /// replay that begins again plays its history as well.
    mutating func advance(to now: Duration) -> [ReplayedEvent] {
        guard let origin else { return [] }
        var events: [ReplayedEvent] = []
        var values = 0
        while let event = peek(), origin + scaled(event.time) <= now, events.count < Self.mostEvents,
            values < Self.mostValues
        {
            pending.removeFirst()
            events.append(event)
            if case .publish(_, let row) = event.request { values += row.count }
            lastTime = max(lastTime, event.time)
        }
        if configuration.loops, pending.isEmpty, !events.isEmpty {
            self.origin = origin + scaled(lastTime + Self.pause)
            source = configuration.source
            lastTime = configuration.start
            peek()
        }
        return events
    }

    @discardableResult
    private mutating func peek() -> ReplayedEvent? {
        while pending.isEmpty {
            guard let next = source.next() else { return nil }
            pending = next[...]
        }
        return pending.first
    }

    /// The time that passes on the server from the start of the replay to a time of the replay.
    private func scaled(_ time: Duration) -> Duration {
        max(.zero, time - configuration.start) / configuration.speed
    }
}
