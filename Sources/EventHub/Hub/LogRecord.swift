internal import SessionCore

/// One event of a topic, as its log keeps it.
struct LogRecord: Sendable {
    /// The event's place in the order of all events of the hub.
    let sequence: UInt64
    /// When it was published.
    let published: Moment
    /// The weight of all events of the topic before it.
    let offset: Int
    /// The event itself: for conflation, and for variants that nobody read when it came.
    let event: HubEvent
}

/// Where one variant of an event lies in its buffer.
///
///     chunkStart      payloadStart                       payloadEnd   chunkEnd
///     │ 1a3 CR LF     │ event: update LF … LF LF         │ CR LF      │
struct LogFrame: Sendable {
    let chunkStart: Int32
    let payloadStart: Int32
    let payloadEnd: Int32
    let chunkEnd: Int32
}
