package import MicroHTTPD
package import Primitives
package import StreamIO
internal import Synchronization

/// A request with its operation, caller and id.
package struct Call: Sendable {
    /// Registers an action for the case that the client leaves before the response to a long poll.
    package typealias Abandonment = @Sendable (_ action: @escaping @Sendable () -> Void) -> Void

    /// The request itself, and data for the response and the metrics.
    var record: CallRecord
    /// The body of the request; empty until the steps before the handler are done.
    package var body: [UInt8]
    package var parameters: PathParameters
    package var query: Query
    package var caller: Caller
    /// Whether the request recreates a client of a removed member.
    package var isInherited: Bool
    /// Whether the resource is only shown in a list, which does not count as use.
    package var isListing: Bool
    /// Whether another gateway has forwarded the request.
    package var isForwarded: Bool
    /// Ends the waits of the request before their time: the gateway that has forwarded the request stops; nil: nothing does.
    package var waitEnd: Awaited<Void>?
    /// Whether the `Idempotency-Key` has been checked: this gateway performs the request.
    package var isPerformedOnce: Bool
    /// The ticket that has to be used before the request is performed; nil: none.
    package var ticket: String?
    /// The use of a ticket by the request; nil: the request has none.
    package var redemption: TicketRedemption?
    package var respond: PendingResponse.Send
    /// Reports that the client left before the response to a long poll.
    package var onAbandonment: Abandonment
    /// Offers to equal long polls to wait together with this one; nil: the response does not wait, or is not sent from here.
    var share: (@Sendable (SharedDecision) -> Void)?

    /// A call that is not routed yet.
    package init(record: CallRecord, respond: @escaping PendingResponse.Send = { _ in }) {
        self.record = record
        self.respond = respond
        onAbandonment = { _ in }
        body = []
        parameters = .empty
        query = .empty
        caller = .unauthenticated
        (isInherited, isListing, isForwarded, isPerformedOnce) = (false, false, false, false)
    }

    package var request: HTTPRequest { record.request }

    /// The id of the request, in the response and in the log.
    package var requestID: String { record.requestID }

    /// Whether the request asks for the head of the response only.
    package var isHead: Bool { request.method == "HEAD" }

    /// The same request for the head of the response only: it is refused for the same reasons, and opens no stream.
    package var forHead: Call { with { $0.method = "HEAD" } }

    /// The same request with another head.
    package func with(_ change: (inout HTTPRequest) -> Void) -> Call {
        var (call, request) = (self, self.request)
        change(&request)
        call.record = CallRecord(
            request,
            requestID: record.requestID,
            since: record.since,
            operation: record.operation,
            headers: record.headers
        )
        return call
    }

    /// The value of a path parameter of the operation.
    package func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// The values of all lines of a header, joined by commas; nil without the header.
    package func header(_ name: String) -> String? { record.request.headers.joined(name) }

    /// The caller whose share the request counts towards: its credentials, or else its network.
    package var shareName: String { caller.identity ?? IPNetwork.subscriber(of: request.peer.host) }

    /// The media type of the response: the best of those that the operation offers, by `Accept`. Throws a 406 problem if
    /// none is acceptable.
    func mediaType(outOf offers: String...) throws(Problem) -> String {
        guard let accept = header("Accept") else { return offers[0] }
        return try AcceptHeader(accept).choose(offers)
    }

    /// The response for the result of a handler; nil for a stream.
    func response(for result: Result<OperationResult, any Error>) -> Response? {
        switch result {
        case .success(.response(let response)): response
        case .success: nil
        case .failure(let error): ProblemDetails.response(to: self, for: error)
        }
    }

    /// The response of a handler, also to a long poll. Cancellation of the task ends a long poll.
    ///
    /// - Throws: `CancellationError`; other errors become responses.
    package func response(_ handler: Operation.WaitingHandler) async throws -> Response {
        let awaited = Awaited<Response>()
        var call = self
        call.respond = { awaited.end(.success($0)) }
        call.onAbandonment = awaited.onEnd
        do {
            switch try await handler(call).last {
            case .response(let response): return response
            case .stream(_, let stream):
                stream.onEnd(.neverOpened)
                throw Problem(.internal)
            case .deferred, .later: return try await awaited.value
            }
        } catch {
            if error is CancellationError { throw error }
            return ProblemDetails.response(to: self, for: error)
        }
    }
}

package enum OperationResult: Sendable {
    case response(Response)
    /// A long poll, which sends the response by `Call.respond`.
    case deferred
    case stream(HTTPFields, AdmittedStream)
    /// The function performs the request, which may have to wait.
    case later(@Sendable () async throws -> OperationResult)

    /// The result of all functions that perform the rest of the request.
    package var last: OperationResult {
        get async throws {
            if case .later(let perform) = self { try await perform().last } else { self }
        }
    }
}

/// A request with data for its response, which may be deferred, and for the metrics.
///
/// An object, which does not change, so that copies of a `Call` share the record.
package final class CallRecord: Sendable {
    let request: HTTPRequest
    /// The id of the request, in the response and in the log.
    let requestID: String
    let since: Moment
    /// The name of the operation; nil before it is found.
    let operation: String?
    let headers: [HTTPField]

    /// A request, by default without further data.
    package init(
        _ request: HTTPRequest,
        requestID: String,
        since: Moment,
        operation: String? = nil,
        headers: [HTTPField] = []
    ) {
        self.request = request
        self.requestID = requestID
        self.since = since
        self.operation = operation
        self.headers = headers
    }

    /// The same request, with further headers of the response.
    func with(_ headers: [HTTPField]) -> CallRecord {
        CallRecord(request, requestID: requestID, since: since, operation: operation, headers: self.headers + headers)
    }
}

/// The id of a request: that of `X-Request-Id` if it is safe to log, or a new one.
package enum RequestIdentity {
    static func id(of request: HTTPRequest) -> String {
        if let given = request.headers["X-Request-Id"], isSafe(given) { return given }
        return make()
    }

    private static let next = Atomic(UInt64.random(in: .min ... .max))

    /// A new id: the next number of a random sequence that starts at a different place in each process. A process reads
    /// only one random number from the system.
    package static func make() -> String {
        let number = SplitMix64.mixed(next.wrappingAdd(SplitMix64.increment, ordering: .relaxed).oldValue)
        return String("r", hexadecimal: number)
    }

    /// The trace id of a `traceparent` (W3C Trace Context); nil without a valid one.
    static func trace(of request: HTTPRequest) -> String? {
        guard let header = request.headers["traceparent"] else { return nil }
        let parts = header.split(separator: "-", omittingEmptySubsequences: false)
        // Later versions may have more parts. Ids of zeros are invalid.
        guard parts.count == 4 || parts.count > 4 && parts[0] != "00", parts[0] != "ff",
            parts.prefix(4).map(\.utf8.count) == [2, 32, 16, 2],
            parts.prefix(4).allSatisfy({ $0.utf8.allSatisfy(isLowerHex) }),
            parts[1...2].allSatisfy({ $0.utf8.contains { $0 != UInt8(ascii: "0") } })
        else { return nil }
        return String(parts[1])
    }

    /// Whether an id is safe in log lines and headers.
    private static func isSafe(_ id: String) -> Bool { id.isLettersDigits(and: "-_.:+/=@", length: 1...128) }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || (0x61...0x66).contains(byte)
    }
}

/// Content negotiation by `Accept` (RFC 9110 section 12.5.1).
struct AcceptHeader: Sendable {
    private struct Range: Sendable {
        let type: Substring
        let subtype: Substring
        let quality: Double
        var precision: Int { type == "*" ? 0 : subtype == "*" ? 1 : 2 }

        func names(_ mediaType: String) -> Bool { "\(type)/\(subtype)" == mediaType }
    }

    private let header: String

    /// An `Accept` header; nil and an empty header accept everything.
    init(_ header: String?) { self.header = header ?? "*/*" }

    private var ranges: [Range] {
        header.lowercased().utf8.split(separator: UInt8(ascii: ",")).compactMap { Self.range(Substring($0)) }
    }

    /// Reads one media range with its parameters, in lower case.
    private static func range(_ text: Substring) -> Range? {
        let pieces = text.utf8.split(separator: UInt8(ascii: ";")).map { Substring($0).trimmed }
        guard let names = pieces.first, let slash = names.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let (type, subtype) = (names[..<slash], names[slash...].dropFirst())
        if type.isEmpty || subtype.isEmpty { return nil }
        let quality = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
        return Range(type: type, subtype: subtype, quality: min(max(quality, 0), 1))
    }

    /// Whether a media type is named explicitly, not by a wildcard.
    func names(_ mediaType: String) -> Bool {
        ranges.contains { $0.precision == 2 && $0.names(mediaType) && $0.quality > 0 }
    }

    /// Whether a media type is named explicitly, and none of some others has a greater weight, or is named before it with an
    /// equal one.
    func prefers(_ mediaType: String, to others: [String]) -> Bool {
        // Most headers name no media type.
        if header == "*/*" { return false }
        let ranges = ranges
        guard let place = ranges.firstIndex(where: { $0.names(mediaType) && $0.quality > 0 }) else { return false }
        return others.allSatisfy { other in
            let quality = Self.quality(of: other, in: ranges)
            if quality != ranges[place].quality { return quality < ranges[place].quality }
            return !ranges[..<place].contains { $0.names(other) }
        }
    }

    /// The best of some media types, in the server's order of preference; nil: none is acceptable.
    func best(of offers: [String]) -> String? {
        // Most headers accept everything, or one media type.
        if header == "*/*" { return offers.first }
        if offers.contains(header) { return header }
        let ranges = ranges
        if ranges.isEmpty { return offers.first }
        var best: (offer: String, quality: Double)?
        for offer in offers {
            let quality = Self.quality(of: offer, in: ranges)
            if quality > (best?.quality ?? 0) { best = (offer, quality) }
        }
        return best?.offer
    }

    /// The best of some media types. Throws a 406 problem if none is acceptable.
    func choose(_ offers: [String]) throws(Problem) -> String {
        guard let best = best(of: offers) else { throw Self.refusal(offers) }
        return best
    }

    /// The 406 problem where none of some media types is acceptable.
    static func refusal(_ offers: [String]) -> Problem {
        Problem(.notAcceptable, detail: "The available media types are \(offers.joined(separator: ", ")).")
    }

    private static func quality(of offer: String, in ranges: [Range]) -> Double {
        guard let slash = offer.utf8.firstIndex(of: UInt8(ascii: "/")) else { return 0 }
        let (type, subtype) = (offer[..<slash], offer[slash...].dropFirst())
        var best: Range?
        for range in ranges where range.type == "*" || range.type == type {
            guard range.subtype == "*" || range.subtype == subtype else { continue }
            if range.precision > (best?.precision ?? -1) { best = range }
        }
        return best?.quality ?? 0
    }
}

extension Substring {
    /// The text without blanks and tabs around it.
    var trimmed: Substring {
        var bytes = utf8
        while let first = bytes.first, [0x20, 0x09].contains(first) { bytes.removeFirst() }
        while let last = bytes.last, [0x20, 0x09].contains(last) { bytes.removeLast() }
        return Substring(bytes)
    }
}

/// The preferences of `Prefer` (RFC 7240) that the gateway supports.
package struct PreferHeader: Sendable, Equatable {
    /// The longest wait, in seconds; longer ones are reduced to it.
    static let longestWait = 300

    /// How many seconds the response may wait for the outcome; nil: not at all.
    package let wait: Int?

    /// Reads a `Prefer` header. Unknown preferences are ignored, as the RFC demands.
    package init(_ header: String?) {
        var wait: Int?
        for part in (header ?? "").split(separator: ",") {
            let piece = part.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)[0]
            let pair = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0].trimmed.lowercased() == "wait", wait == nil else { continue }
            var text = pair[1].trimmed
            if text.count >= 2, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
            guard !text.isEmpty, text.hasASCIIDigitsOnly else { continue }
            wait = min(Int(text) ?? Self.longestWait, Self.longestWait)
        }
        self.wait = wait
    }

    /// How to write a preference that a query or body has as `name`; nil if the name is no preference.
    static func advice(on name: String) -> String? {
        name == "wait" ? "Operations that wait take it as a header: Prefer: wait=SECONDS." : nil
    }
}
