internal import MicroHTTPD
internal import SessionCore
internal import Synchronization

/// One request on its way to its operation.
struct Call: Sendable {
    /// The request as it came.
    let request: HTTPRequest
    /// The values of the path parameters.
    var parameters: [String: String] = [:]
    /// The query, decoded.
    var query = Query()
    /// Who makes it.
    var caller = Caller()
    /// The id that the response and the logs carry.
    var requestID = ""
    /// What is noted for the response and for the figures.
    var record = CallRecord(since: .zero)
    /// The way to respond later.
    var port: ResponseSender

    /// Whether only the head of the response is wanted.
    var isHead: Bool { request.method == "HEAD" }

    /// The value of a path parameter; the router has seen to it that it is there.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// The values of a header, all lines of it, joined by commas; nil if there is none.
    func header(_ name: String) -> String? {
        let values = request.headers.values(of: name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// What an operation decides.
enum OperationResult {
    /// This, now.
    case response(Response)
    /// The call's port will be used, once.
    case deferred
    /// An open response.
    case stream(HTTPStreamHead, any StreamContent)
}

/// What is noted of a request on its way, for its response and for the figures, however late the response comes.
final class CallRecord: Sendable {
    private struct State {
        var headers = HTTPFields()
        var operation: String?
    }

    /// When the request came.
    let since: Moment
    private let state = Mutex(State())

    /// Nothing noted yet.
    init(since: Moment) { self.since = since }

    /// The name of the operation; nil while it is not found.
    var operation: String? {
        get { state.withLock { $0.operation } }
        set { state.withLock { $0.operation = newValue } }
    }

    /// The headers that the response gets.
    var headers: HTTPFields { state.withLock { $0.headers } }

    /// Adds a header to the response.
    func add(_ name: String, _ value: String) { state.withLock { $0.headers.append(name, value) } }
}

/// The id of a request: the caller's, where it is harmless, or a new one.
enum RequestIdentity {
    /// The id of a request.
    static func id(of request: HTTPRequest) -> String {
        if let given = request.headers["X-Request-Id"], isHarmless(given) { return given }
        return make()
    }

    /// A new id.
    static func make() -> String { "r" + String(UInt64.random(in: .min ... .max), radix: 16) }

    /// The trace id of a `traceparent` (W3C Trace Context); nil without one that makes sense.
    static func trace(of request: HTTPRequest) -> String? {
        guard let header = request.headers["traceparent"] else { return nil }
        let parts = header.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].utf8.count == 2, parts[0] != "ff", parts[1].utf8.count == 32,
            parts[2].utf8.count == 16, parts[3].utf8.count == 2,
            parts.prefix(4).allSatisfy({ $0.utf8.allSatisfy(isLowerHex) }),
            parts[1].utf8.contains(where: { $0 != UInt8(ascii: "0") })
        else { return nil }
        return String(parts[1])
    }

    /// Up to 128 visible characters that mean nothing in a log line or a header.
    private static func isHarmless(_ id: String) -> Bool {
        (1...128).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-_.:+/=@".utf8.contains(byte)
            }
    }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
