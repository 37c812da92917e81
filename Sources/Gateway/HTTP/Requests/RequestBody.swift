internal import JSONText
internal import MicroHTTPD

/// Reads the JSON body of a request.
enum RequestBody {
    /// What a JSON merge patch may be sent as.
    static let patchTypes = ["application/merge-patch+json", "application/json"]

    /// The body as a JSON object. Throws 415 for another media type, 400 for what is not a JSON object.
    static func object(of request: HTTPRequest, types: [String] = ["application/json"]) throws(Problem) -> JSONObject {
        try check(request, types)
        let value: JSONValue
        do {
            value = try JSONValue(parsing: request.body)
        } catch {
            throw Problem(.malformed, detail: "The body is not JSON: \(error.description).")
        }
        guard let object = value.object else {
            throw Problem(.malformed, detail: "The body has to be a JSON object.")
        }
        return object
    }

    /// Refuses a body on an operation that takes none; an empty JSON object passes.
    static func none(of request: HTTPRequest) throws(Problem) {
        if request.body.isEmpty { return }
        let object = try object(of: request)
        guard object.isEmpty else {
            throw Problem(
                refusing: object.prefix(Refusals.mostEntries).map {
                    ProblemEntry(.body(JSONPointer(tokens: [$0.name])), .unknownMember, "This operation takes no body.")
                }
            )
        }
    }

    private static func check(_ request: HTTPRequest, _ types: [String]) throws(Problem) {
        guard let header = request.headers["Content-Type"] else { return }
        let pieces = header.split(separator: ";").map { $0.trimmed.lowercased() }
        let charset = pieces.dropFirst().first { $0.hasPrefix("charset=") }?.dropFirst(8)
        let isUTF8 = charset.map { ["utf-8", "\"utf-8\"", "utf8", "us-ascii"].contains($0) } ?? true
        guard let type = pieces.first, types.contains(type), isUTF8 else {
            var problem = Problem(
                .unsupportedMediaType,
                detail: "The body has to be \(types.joined(separator: " or ")), in UTF-8."
            )
            if types.count > 1 { problem.headers.append("Accept-Patch", types.joined(separator: ", ")) }
            throw problem
        }
    }
}

/// Gathers what is refused while input is read, so that one response tells all of it.
final class Refusals {
    /// Where input comes from.
    enum Origin: Sendable {
        /// From the body: places are JSON pointers.
        case body
        /// From the query: places are parameter names.
        case query
    }

    /// How many refusals one response tells.
    static let mostEntries = 100

    /// Where the input comes from.
    let origin: Origin
    /// What was refused so far.
    private(set) var entries: [ProblemEntry] = []

    /// Nothing refused yet.
    init(_ origin: Origin = .body) { self.origin = origin }

    /// Notes a refusal.
    func refuse(_ path: [String], as code: ProblemCode = .invalidValue, _ rule: String) {
        // A body of a million bad names must not become a response of a million entries.
        guard entries.count < Self.mostEntries else { return }
        let place: ProblemEntry.Place =
            switch origin {
            case .body: .body(JSONPointer(tokens: path))
            case .query: .parameter(path.first ?? "")
            }
        entries.append(ProblemEntry(place, code, rule))
    }

    /// Throws what was refused, if anything was.
    func finish() throws(Problem) {
        if !entries.isEmpty { throw Problem(refusing: entries) }
    }
}

/// Reads the members of a JSON object, each of which it has to know.
struct ObjectReader {
    /// The object.
    let object: JSONObject
    /// Where it stands.
    let path: [String]
    /// Where refusals go.
    let refusals: Refusals

    /// A reader of an object.
    init(_ object: JSONObject, at path: [String] = [], _ refusals: Refusals) {
        self.object = object
        self.path = path
        self.refusals = refusals
    }

    /// Refuses every member that is not among these.
    func allow(only names: Set<String>) {
        for member in object where !names.contains(member.name) {
            refusals.refuse(path + [member.name], as: .unknownMember, "There is no such member.")
        }
    }

    /// Whether a member is there, null or not.
    func has(_ name: String) -> Bool { object[name] != nil }

    /// Notes a refusal of a member.
    func refuse(_ name: String, _ rule: String) { refusals.refuse(path + [name], rule) }

    /// Notes that a member is missing.
    func miss(_ name: String, _ rule: String = "It has to be there.") {
        refusals.refuse(path + [name], as: .missingMember, rule)
    }

    /// A string; nil if it is missing, or refused.
    func string(_ name: String) -> String? {
        guard let value = object[name] else { return nil }
        if value.string == nil { refuse(name, "A string is expected.") }
        return value.string
    }

    /// A string that is not empty.
    func name(_ name: String) -> String? {
        guard let text = string(name) else { return nil }
        if text.isEmpty { refuse(name, "It must not be empty.") }
        return text.isEmpty ? nil : text
    }

    /// A string or null. Outer nil: missing or refused; inner nil: null.
    func optionalString(_ name: String, mayBeEmpty: Bool = true) -> String?? {
        guard let value = object[name] else { return nil }
        if value.isNull { return .some(nil) }
        guard let text = value.string else {
            refuse(name, "A string or null is expected.")
            return nil
        }
        if text.isEmpty, !mayBeEmpty {
            refuse(name, "It must not be empty.")
            return nil
        }
        return .some(text)
    }

    /// `true` or `false`.
    func bool(_ name: String) -> Bool? {
        guard let value = object[name] else { return nil }
        if value.bool == nil { refuse(name, "true or false is expected.") }
        return value.bool
    }

    /// A list of strings, each of which obeys a rule; the rule is told where one does not.
    func strings(_ name: String, _ rule: NameRule) -> [String]? {
        guard let value = object[name] else { return nil }
        guard let elements = value.array else {
            refuse(name, "A list of strings is expected.")
            return nil
        }
        if elements.isEmpty || elements.count > 100_000 {
            refuse(name, "A list of 1 to 100000 names is expected.")
            return nil
        }
        var names: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.string, rule.admits(text) else {
                refusals.refuse(path + [name, "\(index)"], rule.sentence)
                continue
            }
            names.append(text)
        }
        return names.count == elements.count && !names.isEmpty ? names : nil
    }

    /// An object.
    func object(_ name: String) -> ObjectReader? {
        guard let value = object[name] else { return nil }
        guard let object = value.object else {
            refuse(name, "An object is expected.")
            return nil
        }
        return ObjectReader(object, at: path + [name], refusals)
    }
}
