internal import ArgumentParser
internal import Gateway
internal import HTTPFetch
internal import JSONText
internal import Recording

/// The subscription that `record` reads, as `watch` does.
struct RecordedSource {
    /// The longest time to wait for the description of a feed.
    private static let timeout = Duration.seconds(10)

    /// The kind of the server.
    let address: AddressFinder.Finding
    /// The options of `watch` that read it.
    let arguments: [String]
    /// The description of the source in the file.
    let segment: RecordedSegment

    /// The command that reads the subscription.
    func watch() throws -> WatchCommand { try WatchCommand.parse(arguments) }

    /// A feed as its gateway describes it, or some items and fields of it.
    static func feed(_ name: String, of address: String, items: String?, fields: String?) async throws -> RecordedSource
    {
        let feed = try await description(of: name, address)
        let patterns = feed["items"]?.array?.compactMap { $0["pattern"]?.string } ?? []
        let described = patterns.flatMap { FeedItem($0)?.names ?? [] }
        let items = items.map(WatchCommand.list) ?? described
        let fields =
            fields.map(WatchCommand.list) ?? feed["fields"]?.array?.compactMap { $0["name"]?.string } ?? []
        guard !items.isEmpty else { throw WatchFailure("The feed \(name) does not list its items: use --items.") }
        guard !fields.isEmpty else { throw WatchFailure("The feed \(name) does not list its fields: use --fields.") }
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

    private static func description(of feed: String, _ address: String) async throws -> JSONValue {
        do {
            let request = try GatewayRequest.make(address, "/v1/feeds/\(feed)", timeout: timeout)
            let response = try await request.response(upTo: 1 << 24)
            let body = String(decoding: response.body, as: UTF8.self)
            guard response.status == 200, let feed = try? JSONValue(parsing: body) else {
                throw WatchFailure(
                    "\(address) does not describe the feed: "
                        + ProblemText.sentence(status: response.status, body)
                )
            }
            return feed
        } catch let error where !(error is WatchFailure) {
            throw WatchFailure("Cannot read from \(address): \(NetworkError.sentence(error)).")
        }
    }
}
