internal import MicroHTTPD

/// A step before every handler, such as authentication or a rate limit.
protocol Middleware: Sendable {
    /// Checks a request. May set the caller; returns a response to skip the handler; throws a problem to reject the
    /// request.
    func admit(_ call: inout Call, operation: Operation?) throws -> Response?
}

/// A step before every handler that also adds headers to responses. Responses pass such steps in reverse order.
protocol ResponseMiddleware: Middleware {
    /// Adds headers to a response, or to the head of a stream.
    func finish(_ headers: inout HTTPFields, for request: HTTPRequest)
}
