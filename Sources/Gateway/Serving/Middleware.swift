internal import MicroHTTPD

/// Something that stands between the front end and every operation: who may come in, how often, from which pages.
///
/// `HTTPHost` asks its list in order before a request goes to its operation, and in reverse order about each answer.
protocol Middleware: Sendable {
    /// Looks at a request. May fill in who the caller is; may answer in place of the operation; may throw a problem.
    func admit(_ call: inout Call, route: Route?) throws -> Answer?

    /// Adds headers to an answer, or to the head of a stream.
    func finish(_ headers: inout HTTPFields, for call: Call)
}

extension Middleware {
    /// Lets every request pass.
    func admit(_ call: inout Call, route: Route?) throws -> Answer? { nil }

    /// Adds nothing.
    func finish(_ headers: inout HTTPFields, for call: Call) {}
}
