internal import HTTPFetch
internal import JSONText
internal import SessionCore

/// Reads a stream of a gateway as lines of JSON, and resumes it when it ends.
struct GatewayWatch {
    /// The longest time to wait for a response that is no stream.
    private static let responseTimeout = Duration.seconds(10)
    /// How many bytes of a refusal are read.
    private static let longestProblem = 1 << 20
    /// The longest line of a stream, in bytes.
    static let longestLine = 64 << 20

    let command: WatchCommand
    let address: String
    let output: WatchOutput

    /// What the streams of a command have in common.
    private struct Reading {
        var silence: StreamSilence
        var pause = RetryPause()
        var lastEventId: String?
    }

    func run() async throws {
        var isKnown = false
        var reading = Reading(silence: StreamSilence(isOnly: command.once))
        while true {
            do {
                let isDone = try await request(after: reading.lastEventId).read { head, next in
                    isKnown = false
                    if head.status == 200, head.mediaType == "application/x-ndjson" {
                        return try await show(next, &reading)
                    }
                    try await refused(head.status, next)
                    return false
                }
                if isDone { return }
            } catch let error where !(error is WatchFailure) && !(error is CancellationError) {
                let sentence = "Cannot read from \(address): \(NetworkError.sentence(error))."
                if command.once { throw WatchFailure(sentence) }
                if !isKnown { _ = output.show(.status("\(sentence) Trying again.")) }
                isKnown = true
            }
            try await reading.pause.wait()
        }
    }

    private func request(after lastEventId: String?) throws -> HTTPFetch {
        var query: [(name: String, value: String?)] = [
            ("feed", command.feed), ("upstream", command.upstream), ("dataAdapter", command.dataAdapter),
            ("format", "ndjson"), ("lastEventId", lastEventId),
        ]
        if command.feed == nil { query.append(("mode", command.mode)) }
        for (name, words) in [("items", command.itemNames), ("fields", command.fieldNames)] where !words.isEmpty {
            query.append((name, words))
        }
        return try GatewayRequest.make(address, "/v1/stream", query, timeout: nil)
    }

    /// Whether another attempt may succeed without a change of the request.
    static func isTemporary(_ status: Int) -> Bool { [408, 425, 429].contains(status) || status >= 500 }

    /// Throws for a refusal that another attempt would not change, and with `once` for any refusal; otherwise shows it.
    /// A page in place of the stream may be that of a proxy, for a time. Only its beginning is read: a stream of another media
    /// type has no end.
    private func refused(_ status: Int, _ next: HTTPFetch.Next) async throws {
        let most = status == 200 ? 1 : Self.longestProblem
        var body: [UInt8] = []
        while body.count < most, let part = try await next(Self.responseTimeout) { body += part }
        let text = String(decoding: body, as: UTF8.self)
        let sentence =
            status == 200
            ? ProblemText.foreign(at: address, status: status, text)
            : "\(address) refused the stream: \(ProblemText.sentence(status: status, text))"
        if command.once || !(status == 200 || Self.isTemporary(status)) { throw WatchFailure(sentence) }
        _ = output.show(.status("\(sentence) Trying again."))
    }

    /// Shows the events of a stream; returns true after the last requested one, and false at the end of the stream.
    private func show(_ next: HTTPFetch.Next, _ reading: inout Reading) async throws -> Bool {
        var pending: [UInt8] = []
        while let (part, pause) = try await bytes(next, &reading.silence) {
            var rest = part[...]
            while let end = rest.firstIndex(of: 0x0A) {
                let line = pending + rest[..<end]
                pending = []
                rest = rest[(end + 1)...]
                guard let event = try? JSONValue(parsing: line) else { continue }
                output.received(line)
                if try show(event) { return true }
                switch event["event"]?.string {
                case "heartbeat":
                    reading.silence.heartbeat(after: pause)
                    reading.pause.reset()
                case "update" where event["data"]?["snapshot"]?.bool == false: reading.pause.reset()
                case "unsubscribed": try await checkRemoval(of: event["data"])
                default: break
                }
                reading.lastEventId = event["id"]?.string ?? reading.lastEventId
            }
            pending += rest
            if pending.count > Self.longestLine { throw WatchFailure("\(address) sent a line that is too long.") }
        }
        let sentence = "\(address) closed the stream."
        if command.once { throw WatchFailure(sentence) }
        _ = output.show(.status("\(sentence) Trying again."))
        return false
    }

    /// The next bytes of an open stream, and the pause before them; nil at its end.
    private func bytes(
        _ next: HTTPFetch.Next,
        _ silence: inout StreamSilence
    ) async throws -> (part: [UInt8], pause: Duration)? {
        let start = ContinuousClock.now
        do {
            return try await next(silence.limit).map { ($0, start.duration(to: .now)) }
        } catch HTTPFetchError.timeout {
            silence.exceeded()
            throw HTTPFetchError.timeout
        }
    }

    /// Throws if the server removed the subscription, which stays active when only its session has ended.
    private func checkRemoval(of data: JSONValue?) async throws {
        guard let id = data?["subscription"]?.string else { return }
        let request = try GatewayRequest.make(address, "/v1/subscriptions/\(id)", timeout: Self.responseTimeout)
        let response = try await request.response(upTo: 1 << 20)
        if let failure = (try? JSONValue(parsing: response.body)).flatMap(WatchFailure.end) { throw failure }
    }

    private func show(_ event: JSONValue) throws -> Bool {
        guard let name = event["event"]?.string, let data = event["data"] else { return false }
        switch name {
        case "heartbeat": return false
        case "status": return output.show(Self.status(data))
        case "update": return output.show(.update(Self.update(data)))
        case "stream":
            if output.show(.other(name: name, content: data.text)) { return true }
            guard let source = data["sources"]?.array?.first else { return false }
            // A subscription may end before the stream begins.
            if let failure = WatchFailure.end(of: source) { throw failure }
            return source["status"]?.string == nil ? false : output.show(Self.status(source))
        case "server-error", "subscription-error":
            let (code, message) = (data["code"]?.number?.intValue ?? 0, data["message"]?.string ?? "")
            let refusal = UpstreamRefusal(code: code, message: message)
            // The gateway connects again by itself.
            if name == "server-error" { return try output.sessionEnded(refusal, data, once: command.once) }
            throw refusal.isRemoval ? WatchFailure.removal : .subscriptionError(code, message)
        default: return output.show(.other(name: name, content: data.text))
        }
    }

    private static func status(_ data: JSONValue) -> WatchEvent {
        .status(data["status"]?.string ?? "", failure: data["lastFailure"]?["detail"]?.string)
    }

    private static func update(_ data: JSONValue) -> WatchUpdate {
        var update = WatchUpdate(item: data["item"]?.string ?? "item \(data["itemPos"]?.number?.text ?? "")")
        update.key = data["key"]?.string
        update.command = data["command"]?.string
        update.isSnapshot = data["snapshot"]?.bool ?? false
        update.fields = (data["fields"]?.object.map { Array($0) } ?? []).map {
            // A feed has values of other types than text.
            WatchUpdate.Field(name: $0.name, value: $0.value.isNull ? nil : $0.value.string ?? $0.value.text)
        }
        return update
    }
}
