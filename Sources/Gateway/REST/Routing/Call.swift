internal import MicroHTTPD
internal import SessionCore

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
    /// The id that the answer and the logs carry.
    var requestID = ""
    /// What is noted for the answer and for the figures.
    var notes = CallNotes(since: .zero)
    /// The way to answer later.
    var port: AnswerPort

    /// Whether only the head of the answer is wanted.
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
enum Reply {
    /// This, now.
    case answer(Answer)
    /// The call's port will be used, once.
    case later
    /// An open response.
    case stream(HTTPStreamHead, any StreamContent)
}
