internal import MicroHTTPD
internal import SessionCore
internal import Synchronization

/// What is noted of a request on its way, for its answer and for the figures, however late the answer comes.
final class CallNotes: Sendable {
    private struct Body {
        var headers = HTTPFields()
        var route: String?
    }

    /// When the request came.
    let since: Moment
    private let body = Mutex(Body())

    /// Nothing noted yet.
    init(since: Moment) { self.since = since }

    /// The name of the operation; nil while it is not found.
    var route: String? {
        get { body.withLock { $0.route } }
        set { body.withLock { $0.route = newValue } }
    }

    /// The headers that the answer gets.
    var headers: HTTPFields { body.withLock { $0.headers } }

    /// Adds a header to the answer.
    func add(_ name: String, _ value: String) { body.withLock { $0.headers.append(name, value) } }
}
