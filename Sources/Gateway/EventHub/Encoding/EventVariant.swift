internal import Changes

/// One of the encodings of an event; each is made at most once, for all readers.
struct EventVariant: Hashable, Sendable {
    static let count = 8
    /// All variants, in the order of their indices.
    static let all = EventFormat.allCases.flatMap { format in
        [false, true].flatMap { isTyped in
            [false, true].map { EventVariant(format: format, sendsAllFields: $0, isTyped: isTyped) }
        }
    }

    let format: EventFormat
    /// Whether updates carry all fields beside the changed ones.
    let sendsAllFields: Bool
    /// Whether values have the types of their fields, where these are known.
    let isTyped: Bool

    /// A number below `count`.
    let index: Int

    /// The variant in which a stream reads the events of a topic, where values have these types.
    init(of topic: TopicContext, in request: StreamRequest, _ types: FieldTypes) {
        let isTyped = topic.subscription.map { types[$0] != nil } ?? false
        self.init(format: request.format, sendsAllFields: request.sendsAllFields, isTyped: isTyped)
    }

    init(format: EventFormat, sendsAllFields: Bool, isTyped: Bool = false) {
        self.format = format
        self.sendsAllFields = sendsAllFields
        self.isTyped = isTyped
        index = (format == .ndjson ? 4 : 0) + (isTyped ? 2 : 0) + (sendsAllFields ? 1 : 0)
    }
}
