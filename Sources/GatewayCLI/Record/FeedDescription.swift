internal import HTTPFetch
internal import JSONText

/// The description of a feed, which its gateway is asked for until it responds.
struct FeedDescription {
    /// The longest time to wait for a response.
    private static let timeout = Duration.seconds(10)

    private let address: String
    /// Sends the request.
    private let fetch: @Sendable () async throws -> (status: Int, body: String)
    /// Waits before another attempt.
    private let wait: @Sendable (Duration) async throws -> Void
    /// Shows why another attempt is made.
    private let show: @Sendable (_ sentence: String) -> Void

    /// The description of a feed of a gateway. Throws `WatchFailure` if the address is not a URL.
    init(of feed: String, at address: String) throws {
        let request = try GatewayRequest.make(address, "/v1/feeds/\(feed)", timeout: Self.timeout)
        self.init(at: address) {
            let response = try await request.response(upTo: 1 << 24)
            return (response.status, String(decoding: response.body, as: UTF8.self))
        } wait: {
            try await Task.sleep(for: $0)
        } show: {
            StandardError.write(LineDisplay.line($0, nil) + "\n")
        }
    }

    /// A description that `fetch` reads.
    init(
        at address: String,
        fetch: @escaping @Sendable () async throws -> (status: Int, body: String),
        wait: @escaping @Sendable (Duration) async throws -> Void,
        show: @escaping @Sendable (_ sentence: String) -> Void
    ) {
        (self.address, self.fetch, self.wait, self.show) = (address, fetch, wait, show)
    }

    /// Reads the description. Tries again while the gateway cannot be reached or refuses the request for a time; throws
    /// `WatchFailure` for a response that another attempt would not change.
    func read() async throws -> JSONValue {
        var pause = RetryPause()
        var shown = ""
        while true {
            var sentence: String
            do {
                let (status, body) = try await fetch()
                if status == 200, let feed = try? JSONValue(parsing: body) { return feed }
                sentence = "\(address) does not describe the feed: \(ProblemText.sentence(status: status, body))"
                guard GatewayWatch.isTemporary(status) else { throw WatchFailure(sentence) }
            } catch let error where !(error is WatchFailure) {
                try Task.checkCancellation()
                sentence = "Cannot read from \(address): \(NetworkError.sentence(error))."
            }
            if sentence != shown { show("\(sentence) Trying again.") }
            shown = sentence
            try await wait(pause.take(jitter: .random(in: 0...1)))
        }
    }
}
