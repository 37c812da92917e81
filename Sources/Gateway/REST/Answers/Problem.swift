internal import JSONText
internal import MicroHTTPD
internal import SessionPool

/// One refused part of the input.
struct ProblemEntry: Sendable, Equatable {
    /// Where it stands.
    enum Place: Sendable, Equatable {
        /// In the body.
        case body(JSONPointer)
        /// In the query.
        case parameter(String)
    }

    /// Where it stands.
    let place: Place
    /// What kind of refusal it is.
    let code: ProblemCode
    /// The rule, as a sentence.
    let detail: String

    /// An entry.
    init(_ place: Place, _ code: ProblemCode, _ detail: String) {
        self.place = place
        self.code = code
        self.detail = detail
    }

    /// The name of the place as people read it.
    var placeName: String {
        switch place {
        case .body(let pointer): pointer.tokens.isEmpty ? "the body" : pointer.tokens.joined(separator: "/")
        case .parameter(let name): name
        }
    }
}

/// An error on its way to becoming an RFC 9457 answer.
struct Problem: Error, Sendable {
    /// What kind it is.
    let code: ProblemCode
    /// What is wrong in this case; nil: the title says it all. Never holds a secret.
    var detail: String?
    /// The refused parts of the input.
    var entries: [ProblemEntry] = []
    /// What the Lightstreamer server said.
    var upstream: UpstreamRefusal?
    /// Headers that the answer carries, such as `Allow`.
    var headers = HTTPFields()

    /// A problem.
    init(_ code: ProblemCode, detail: String? = nil, entries: [ProblemEntry] = []) {
        self.code = code
        self.detail = detail
        self.entries = entries
    }

    /// The problem of refused input, of which there is at least one part.
    init(refusing entries: [ProblemEntry]) {
        self.init(
            entries.first?.code ?? .invalidValue,
            detail: entries.first.map { "\($0.placeName): \($0.detail)" },
            entries: entries
        )
    }
}
