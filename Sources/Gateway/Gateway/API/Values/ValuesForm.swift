/// The forms of the response to a `GET` of values.
package enum ValuesForm: String, Sendable, CaseIterable {
    case json
    /// The bare value, or lines of values separated by tabs.
    case text
    /// Comma-separated values with a header line (RFC 4180).
    case csv
    /// One JSON object for each item, or for each row of a COMMAND item.
    case ndjson

    var mediaType: String {
        switch self {
        case .json: "application/json"
        case .text: "text/plain; charset=utf-8"
        case .csv: "text/csv; charset=utf-8; header=present"
        case .ndjson: "application/x-ndjson"
        }
    }

    /// The media types of all forms, without parameters.
    static let offers = allCases.map(\.offer)

    /// The media type without parameters.
    package var offer: String { String(mediaType.prefix { $0 != ";" }) }

    /// The form that a request names by `format`, else the one that its `Accept` prefers. Throws a 422 problem for an
    /// unknown name, and a 406 problem if no form is acceptable; both name the forms that there are. `alsoStreams`: the URL
    /// is one of a stream as well, for which the request does not ask.
    static func chosen(by call: Call, alsoStreams: Bool) throws(Problem) -> ValuesForm {
        var reader = QueryReader(call.query)
        let name = reader.word("format", of: allCases.map(\.rawValue) + (alsoStreams ? ["sse"] : []))
        try reader.finish()
        if let named = name.flatMap(ValuesForm.init(rawValue:)) { return named }
        guard let type = AcceptHeader(call.header("Accept")).best(of: offers) else {
            throw AcceptHeader.refusal(offers + (alsoStreams ? ["text/event-stream"] : []))
        }
        return allCases.first { $0.offer == type } ?? .json
    }
}
