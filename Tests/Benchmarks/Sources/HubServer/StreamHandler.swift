internal import Changes
internal import EventHub
internal import GatewayStreaming
internal import MicroHTTPD
internal import StreamIO
internal import Synchronization

/// Opens a stream for every request that names topics: `/stream/FIRST-LAST`, or `/typed/FIRST-LAST` for typed values,
/// compressed for those that accept gzip. `/bytes/N` has a body of N bytes.
struct StreamHandler: HTTPHandler {
    let streams: StreamRegistry

    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) -> HTTPDecision {
        if request.rawPath.hasPrefix("/bytes/"), let count = Int(request.rawPath.dropFirst(7)) {
            return Self.bytes(count)
        }
        let isTyped = request.rawPath.hasPrefix("/typed/")
        let prefix = isTyped ? "/typed/" : "/stream/"
        let topics = request.rawPath.dropFirst(prefix.count).split(separator: "-").compactMap { Int($0) }
        guard request.rawPath.hasPrefix(prefix), let first = topics.first, let last = topics.last, first <= last
        else { return .respond(HTTPResponse(status: 404)) }
        let ids = (first...last).map { SubscriptionID("s\($0)") }
        var stream = StreamRequest(sources: ids.map { .subscription($0) })
        stream.compresses = request.headers["Accept-Encoding"] == "gzip"
        if isTyped { for id in ids { stream.types[id] = [.number, .string] } }
        do {
            let owner = StreamOwner(peer: request.peer.host)
            return .stream(StreamRegistry.headers(for: stream), try streams.open(stream, owner: owner))
        } catch {
            return .respond(HTTPResponse(status: 404))
        }
    }

    func screen(_ head: HTTPRequest) -> HTTPScreening { .accept(handle) }
    func isOperational(_ head: HTTPRequest) -> Bool { false }
    func connectionsRefused(reason: String) {}
    func refusal(for refusal: RequestRefusal, from peer: PeerAddress, headers: HTTPFields) -> HTTPResponse {
        HTTPResponse(status: refusal.status)
    }

    private static func bytes(_ count: Int) -> HTTPDecision {
        let shared = kept.withLock { kept in
            if kept?.count != count { kept = SharedBytes([UInt8](repeating: 0x2E, count: count)) }
            return kept
        }
        return .respond(HTTPResponse(status: 200, body: shared.map { .shared($0) } ?? .empty))
    }

    /// The body of the last request for bytes.
    private static let kept = Mutex<SharedBytes?>(nil)
}
