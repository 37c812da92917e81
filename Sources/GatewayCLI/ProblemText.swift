internal import JSONText

/// Sentences for problem details (RFC 9457).
enum ProblemText {
    static func isProblem(_ body: String) -> Bool { (try? JSONValue(parsing: body))?["title"]?.string != nil }

    /// The sentence for a response that is not from a gateway.
    static func foreign(at address: String, status: some BinaryInteger, _ body: String) -> String {
        "No gateway responds at \(address), but something else with \(sentence(status: status, body))"
    }

    /// The title and detail of a problem, with its status, and where the commands take credentials from; the beginning of
    /// the body if it is no problem.
    static func sentence(status: some BinaryInteger, _ body: String) -> String {
        guard let problem = try? JSONValue(parsing: body), let title = problem["title"]?.string else {
            let text = body.prefix(200).filter { !$0.isNewline }
            return text.isEmpty ? "status \(status)." : "status \(status), \(text.printable)"
        }
        let detail = problem["detail"]?.string.map { ": \($0)" } ?? "."
        let cure = status == 401 ? " The environment variable GATEWAY_TOKEN holds the key or token." : ""
        return "\(title.printable) (\(status))\(detail.printable)\(cure)"
    }
}
