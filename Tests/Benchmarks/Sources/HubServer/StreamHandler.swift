internal import Changes
internal import EventHub
internal import GatewayStreaming
internal import MicroHTTPD

/// Opens a stream for every request that names topics.
struct StreamHandler: HTTPHandler {
    let streams: StreamRegistry

    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) -> HTTPDecision {
        let topics = request.rawPath.dropFirst("/stream/".count).split(separator: "-").compactMap { Int($0) }
        guard request.rawPath.hasPrefix("/stream/"), let first = topics.first, let last = topics.last, first <= last
        else { return .respond(HTTPResponse(status: 404)) }
        let stream = StreamRequest(sources: (first...last).map { .subscription(SubscriptionID("s\($0)")) })
        do {
            let owner = StreamOwner(peer: request.peer.host)
            return .stream(StreamRegistry.head(for: stream), try streams.open(stream, owner: owner))
        } catch {
            return .respond(HTTPResponse(status: 404))
        }
    }
}
