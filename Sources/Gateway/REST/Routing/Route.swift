/// One line of the route table: a method on a path, what may come of it, and who does it.
struct Route: Sendable {
    /// The methods that routes are written for; `HEAD` and `OPTIONS` need no route.
    enum Method: String, Sendable, Hashable {
        /// Reads.
        case get = "GET"
        /// Makes or does something.
        case post = "POST"
        /// Changes.
        case patch = "PATCH"
        /// Deletes.
        case delete = "DELETE"
    }

    /// Does what the route is for. Errors become problems in `ProblemDetails`.
    typealias Operation = @Sendable (Call) throws -> Reply

    /// The method.
    let method: Method
    /// The path.
    let pattern: RoutePattern
    /// The `operationId` in openapi.yaml.
    let name: String
    /// Every status that openapi.yaml documents for the operation.
    let statuses: Set<Int>
    /// The query parameters that the operation knows; nil: it passes over all of them.
    let query: [String]?
    /// The media types that the operation answers in; empty: it looks at `Accept` itself.
    let forms: [String]
    /// What is done.
    let operation: Operation

    /// A line.
    init(
        _ method: Method,
        _ path: String,
        _ name: String,
        _ statuses: Set<Int>,
        query: [String]? = [],
        forms: [String] = ["application/json"],
        _ operation: @escaping Operation
    ) {
        self.method = method
        pattern = RoutePattern(path)
        self.name = name
        self.statuses = statuses
        self.query = query
        self.forms = forms
        self.operation = operation
    }
}
