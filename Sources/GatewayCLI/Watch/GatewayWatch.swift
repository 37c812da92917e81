internal import ArgumentParser
internal import AsyncHTTPClient
internal import JSONText
internal import NIOCore
internal import SessionCore

/// Reads a stream of a gateway as lines of JSON, and resumes it when it ends.
struct GatewayWatch {
    /// The pause before another attempt.
    private static let retryDelay = Duration.seconds(2)
    /// The longest time to wait for a response that is no stream.
    private static let responseTimeout = TimeAmount.seconds(10)
    /// The longest line of a stream, in bytes.
    private static let longestLine = 64 << 20

    let command: WatchCommand
    let address: String
    let output: WatchOutput

    func run() async throws {
        var configuration = HTTPClient.Configuration()
        // A refused connection is reported at once; `watch` itself tries again.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(configuration: configuration)
        do {
            try await run(client)
            try await client.shutdown()
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    private func run(_ client: HTTPClient) async throws {
        var isKnown = false
        var lastEventId: String?
        while true {
            do {
                let response = try await client.execute(try request(after: lastEventId), deadline: .distantFuture)
                isKnown = false
                if response.status == .ok {
                    if try await show(response.body, lastEventId: &lastEventId, client) { return }
                    let sentence = "\(address) closed the stream."
                    if command.once { throw WatchFailure(sentence) }
                    _ = output.show(.status("\(sentence) Trying again."))
                } else {
                    try await refused(response)
                }
            } catch let error where !(error is WatchFailure) && !(error is CancellationError) {
                let sentence = "Cannot read from \(address): \(NetworkError.sentence(error))."
                if command.once { throw WatchFailure(sentence) }
                if !isKnown { _ = output.show(.status("\(sentence) Trying again.")) }
                isKnown = true
            }
            try await Task.sleep(for: Self.retryDelay)
        }
    }

    private func request(after lastEventId: String?) throws -> HTTPClientRequest {
        var query: [(name: String, value: String?)] = [
            ("feed", command.feed), ("upstream", command.upstream), ("dataAdapter", command.dataAdapter),
            ("format", "ndjson"), ("lastEventId", lastEventId),
        ]
        if command.feed == nil { query.append(("mode", command.mode)) }
        for (name, words) in [("items", command.itemNames), ("fields", command.fieldNames)] where !words.isEmpty {
            query.append((name, words))
        }
        return try GatewayRequest.make(address, "/v1/stream", query)
    }

    /// Throws for a refusal that another attempt would not change, and with `once` for any refusal; otherwise shows it.
    private func refused(_ response: HTTPClientResponse) async throws {
        let body = String(buffer: try await response.body.collect(upTo: 1 << 20))
        let sentence = "\(address) refused the stream: \(ProblemText.sentence(status: response.status.code, body))"
        let isTemporary = response.status.code == 429 || response.status.code >= 500
        if command.once || !isTemporary { throw WatchFailure(sentence) }
        _ = output.show(.status("\(sentence) Trying again."))
    }

    /// Shows the events of a stream; returns true after the last requested one.
    private func show(
        _ body: HTTPClientResponse.Body,
        lastEventId: inout String?,
        _ client: HTTPClient
    ) async throws -> Bool {
        var pending: [UInt8] = []
        for try await chunk in body {
            pending += chunk.readableBytesView
            while let end = pending.firstIndex(of: 0x0A) {
                let line = Array(pending[..<end])
                pending.removeSubrange(...end)
                guard let event = try? JSONValue(parsing: line) else { continue }
                output.received(line)
                if try show(event) { return true }
                if event["event"]?.string == "unsubscribed" { try await checkRemoval(of: event["data"], client) }
                lastEventId = event["id"]?.string ?? lastEventId
            }
            if pending.count > Self.longestLine { throw WatchFailure("\(address) sent a line that is too long.") }
        }
        return false
    }

    /// Throws if the server removed the subscription; it stays active when only its session has ended.
    private func checkRemoval(of data: JSONValue?, _ client: HTTPClient) async throws {
        guard let id = data?["subscription"]?.string else { return }
        let response = try await client.execute(
            GatewayRequest.make(address, "/v1/subscriptions/\(id)"),
            timeout: Self.responseTimeout
        )
        let body = String(buffer: try await response.body.collect(upTo: 1 << 20))
        if let failure = (try? JSONValue(parsing: body)).flatMap(WatchFailure.end) { throw failure }
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
            if UpstreamRefusal(code: code, message: message).isRemoval { throw WatchFailure.removal }
            throw name == "server-error"
                ? WatchFailure.serverError(code, message) : WatchFailure.subscriptionError(code, message)
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
