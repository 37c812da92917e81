internal import ArgumentParser
internal import Gateway
internal import JSONText
internal import Recording

/// The subscription that `record` reads, as `watch` does.
struct RecordedSource {
    /// The kind of the server.
    let address: AddressFinder.Finding
    /// The options of `watch` that read the subscription.
    let arguments: [String]
    /// The description of the source in the file.
    let segment: RecordedSegment

    /// The command that reads the subscription.
    func watch() throws -> WatchCommand { try WatchCommand.parse(arguments) }

    /// A feed as its gateway describes it, or some of its items and fields.
    static func feed(_ name: String, of address: String, items: String?, fields: String?) async throws -> RecordedSource
    {
        let feed = try await FeedDescription(of: name, at: address).read()
        return try self.feed(name, of: address, describedAs: feed, items: items, fields: fields)
    }

    /// A feed with this description. The options of `watch` name only the items and fields that the user has named: a request has
    /// no room for those of a large feed.
    static func feed(
        _ name: String,
        of address: String,
        describedAs feed: JSONValue,
        items: String?,
        fields: String?
    ) throws(WatchFailure) -> RecordedSource {
        let named = (items: items.map(WatchCommand.list), fields: fields.map(WatchCommand.list))
        let items = named.items ?? Self.items(of: feed)
        let fields = named.fields ?? feed["fields"]?.array?.compactMap { $0["name"]?.string } ?? []
        let most = NameRule.mostItems
        guard !items.isEmpty else { throw WatchFailure("The feed \(name) does not list its items: use --items.") }
        guard items.count <= most else { throw WatchFailure("The feed \(name) has over \(most) items: use --items.") }
        guard !fields.isEmpty else { throw WatchFailure("The feed \(name) does not list its fields: use --fields.") }
        return RecordedSource(
            address: .gateway(address),
            arguments: ["--feed=\(name)"]
                + [("items", named.items), ("fields", named.fields)].compactMap { option, names in
                    names.map { "--\(option)=\($0.joined(separator: ","))" }
                },
            segment: RecordedSegment(
                start: Recorder.now,
                dataAdapter: feed["dataAdapter"]?.string,
                mode: feed["mode"]?.string ?? "MERGE",
                items: items,
                fields: fields
            )
        )
    }

    /// The items that a feed lists: all of them, or more than a subscription may have.
    private static func items(of feed: JSONValue) -> [String] {
        var names: [String] = []
        for item in feed["items"]?.array ?? [] where names.count <= NameRule.mostItems {
            names += item["pattern"]?.string.flatMap { FeedItem($0) }?.names ?? []
        }
        return names
    }
}
