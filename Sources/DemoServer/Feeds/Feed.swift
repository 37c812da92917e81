/// A data adapter: some items, their present state, and what happens to them as time goes by.
///
/// Feeds are pure: what they publish follows from the seed, the time and the messages they were given, whether or not
/// anybody listens.
protocol Feed: Sendable {
    /// Names of the fields, in the order of all rows of this feed.
    var fields: [String] { get }

    /// What an item is; nil if the feed has no such item.
    func item(named name: String) -> FeedItem?

    /// The present state of an item.
    func snapshot(of name: String) -> FeedSnapshot

    /// The instant of the next change; nil if nothing will change by itself.
    var nextChange: Duration? { mutating get }

    /// What happened up to an instant, in order.
    mutating func advance(to now: Duration) -> [FeedEvent]

    /// A test, or the application around the server, asks for something.
    mutating func ordered(_ order: FeedRequest) -> [FeedEvent]

    /// A client said something to everybody.
    mutating func said(_ text: String, from address: String, at now: Duration) -> [FeedEvent]
}

extension Feed {
    mutating func ordered(_ order: FeedRequest) -> [FeedEvent] { [] }
    mutating func said(_ text: String, from address: String, at now: Duration) -> [FeedEvent] { [] }
}
