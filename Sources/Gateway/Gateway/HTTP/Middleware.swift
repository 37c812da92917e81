internal import MicroHTTPD

/// A step before every handler, such as authentication or a rate limit.
protocol Middleware: Sendable {
    /// Checks a request. May set the caller; throws a problem to reject the request, or `AnsweredRequest` with the response to
    /// it.
    func admit(_ call: inout Call, operation: Operation?) throws
}

/// A step before every handler that also adds headers to responses. Responses pass such steps in reverse order.
protocol ResponseMiddleware: Middleware {
    /// Adds headers to a response, or to the head of a stream.
    func finish(_ headers: inout HTTPFields, for request: HTTPRequest)
}
