/// One of the ways in which an event can be written; each is written at most once for all of its readers.
struct EventVariant: Hashable, Sendable {
    /// The number of variants there are.
    static let count = 4
    /// All variants, in the order of their indices.
    static let all = EventFormat.allCases.flatMap { format in
        [false, true].map { EventVariant(format: format, sendsAllFields: $0) }
    }

    /// How the event is framed.
    let format: EventFormat
    /// Whether updates carry all fields beside what changed.
    let sendsAllFields: Bool

    /// A number below `count`.
    var index: Int {
        let base =
            switch format {
            case .serverSentEvents: 0
            case .ndjson: 2
            }
        return base + (sendsAllFields ? 1 : 0)
    }
}
