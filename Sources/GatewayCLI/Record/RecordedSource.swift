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
        let patterns = feed["items"]?.array?.compactMap { $0["pattern"]?.string } ?? []
        let described = patterns.flatMap { FeedItem($0)?.names ?? [] }
        let items = items.map(WatchCommand.list) ?? described
        let fields =
            fields.map(WatchCommand.list) ?? feed["fields"]?.array?.compactMap { $0["name"]?.string } ?? []
        guard !items.isEmpty else { throw WatchFailure("The feed \(name) does not list its items: use --items.") }
        guard !fields.isEmpty else { throw WatchFailure("The feed \(name) does not list its fields: use --fields.") }
        if let name = (items + fields).first(where: { $0.contains(",") }) {
            throw WatchFailure("The name \(name) of the feed has a comma: use --items and --fields without it.")
        }
        return RecordedSource(
            address: .gateway(address),
            arguments: [
                "--feed=\(name)", "--items=\(items.joined(separator: ","))",
                "--fields=\(fields.joined(separator: ","))",
            ],
            segment: RecordedSegment(
                start: Recorder.now,
                dataAdapter: feed["dataAdapter"]?.string,
                mode: feed["mode"]?.string ?? "MERGE",
                items: items,
                fields: fields
            )
        )
    }
}
