internal import JSONText
internal import MicroHTTPD

enum RequestBody {
    static let patchTypes = ["application/merge-patch+json", "application/json"]
    /// The header `Accept-Patch` (RFC 5789).
    static let acceptPatch = patchTypes.joined(separator: ", ")

    /// The body as a JSON object. Throws 415 for another media type, 400 if it is no JSON object.
    static func object(of call: Call, types: [String] = ["application/json"]) throws(Problem) -> JSONObject {
        try check(call.request, types)
        let value: JSONValue
        do {
            value = try JSONValue(parsing: call.body)
        } catch {
            if call.body.isEmpty { throw Problem(.malformed, detail: "The body is empty. A JSON object is expected.") }
            throw Problem(.malformed, detail: "The body is not JSON: \(error.description).")
        }
        guard let object = value.object else { throw Problem(.malformed, detail: "The body must be a JSON object.") }
        return object
    }

    /// A reader of the body as a JSON object. Throws as `object`.
    static func reader(of call: Call, types: [String] = ["application/json"]) throws(Problem) -> ObjectReader {
        ObjectReader(try object(of: call, types: types), Refusals())
    }

    /// Rejects a body for an operation that takes none; an empty JSON object is allowed.
    static func none(of call: Call) throws(Problem) {
        if call.body.isEmpty { return }
        let object = try object(of: call)
        guard object.isEmpty else {
            throw Problem(
                refusing: object.prefix(Refusals.mostEntries).map {
                    ProblemEntry(.body(at: [$0.name]), .unknownMember, "This operation takes no body.")
                }
            )
        }
    }

    private static func check(_ request: HTTPRequest, _ types: [String]) throws(Problem) {
        if let coding = request.headers["Content-Encoding"], coding.lowercased() != "identity" {
            throw unsupported("The body must not be encoded; Content-Encoding is \"\(coding)\".", types)
        }
        // Most headers are the media type alone.
        guard let header = request.headers["Content-Type"], !types.contains(header) else { return }
        let pieces = header.split(separator: ";").map { $0.trimmed.lowercased() }
        let charset = pieces.dropFirst().first { $0.hasPrefix("charset=") }?.dropFirst(8)
        let isUTF8 = charset.map { ["utf-8", "\"utf-8\"", "utf8", "us-ascii"].contains($0) } ?? true
        guard let type = pieces.first, types.contains(type), isUTF8 else {
            let rule = "The body must be \(types.joined(separator: " or ")), in UTF-8; Content-Type is \"\(header)\"."
            throw unsupported(rule, types)
        }
    }

    /// 415, with the media types of a patch.
    private static func unsupported(_ detail: String, _ types: [String]) -> Problem {
        var problem = Problem(.unsupportedMediaType, detail: detail)
        if types == patchTypes { problem.headers.append("Accept-Patch", acceptPatch) }
        return problem
    }
}

/// Collects the errors in the input of a request, so that one response reports all of them.
final class Refusals {
    enum Origin: Sendable {
        /// The body: locations are JSON pointers.
        case body
        /// The query: locations are parameter names.
        case query
    }

    /// The most errors that one response reports.
    static let mostEntries = 100

    let origin: Origin
    private(set) var entries: [ProblemEntry] = []
    /// The parameters of a query that give the names of a list, by the list, in the order of the names.
    var parameters: [String: [String]] = [:]

    init(_ origin: Origin = .body) { self.origin = origin }

    /// Whether the limit of errors is reached: further ones are not reported, so the search for them can stop.
    var isFull: Bool { entries.count >= Self.mostEntries }

    func refuse(_ path: [String], as code: ProblemCode = .invalidValue, _ rule: String) {
        // A body with a million bad names does not produce a response with a million entries.
        if isFull { return }
        switch origin {
        case .body: entries.append(ProblemEntry(.body(at: path), code, rule))
        case .query: entries.append(entry(inQueryAt: path, code, rule))
        }
    }

    /// The error of a parameter; the rule begins with the number of the name among several that the parameter gives.
    private func entry(inQueryAt path: [String], _ code: ProblemCode, _ rule: String) -> ProblemEntry {
        let (list, index) = (path.first ?? "", path.dropFirst().first.flatMap { Int($0) })
        guard let names = parameters[list], names.indices.contains(index ?? 0) else {
            return ProblemEntry(.parameter(list), code, rule)
        }
        let parameter = names[index ?? 0]
        guard let index, names.count(where: { $0 == parameter }) > 1 else {
            return ProblemEntry(.parameter(parameter), code, rule)
        }
        let number = names[...index].count { $0 == parameter }
        return ProblemEntry(.parameter(parameter), code, "Name \(number): \(rule)")
    }

    func finish() throws(Problem) { if !entries.isEmpty { throw Problem(refusing: entries) } }
}

/// Reads the members of a JSON object and rejects unknown ones.
struct ObjectReader {
    /// The most bytes of a name, and of all field names in a list.
    private static let mostBytes = 65_536
    private static let lengthRule = "A string of at most \(mostBytes) bytes is expected."

    let object: JSONObject
    /// The path of the object in the body.
    let path: [String]
    let refusals: Refusals

    init(_ object: JSONObject, at path: [String] = [], _ refusals: Refusals) {
        self.object = object
        self.path = path
        self.refusals = refusals
    }

    /// Rejects every other member.
    ///
    /// - Parameters:
    ///   - names: The members that the object may have.
    ///   - readOnly: Members of the resource that a request cannot set.
    func allow(only names: Set<String>, readOnly: Set<String> = []) {
        for member in object.members where !names.contains(member.name) {
            if refusals.isFull { return }
            guard !readOnly.contains(member.name) else {
                refusals.refuse(path + [member.name], as: .unknownMember, "It is read-only.")
                continue
            }
            let advice = path.isEmpty ? PreferHeader.advice(on: member.name) : nil
            let hint = advice.map { " \($0)" } ?? SimilarNames.hint(for: member.name, among: names.sorted())
            refusals.refuse(path + [member.name], as: .unknownMember, "There is no such member.\(hint)")
        }
    }

    /// Whether a member exists, null or not.
    func has(_ name: String) -> Bool { object[name] != nil }

    func refuse(_ name: String, _ rule: String) { refusals.refuse(path + [name], rule) }

    /// Adds an error for a value that is refused; returns nil, for the reader of the value.
    func refused<Value>(_ name: String, _ rule: String) -> Value? {
        refuse(name, rule)
        return nil
    }

    /// Adds an error for a missing member.
    func missing(_ name: String, _ rule: String = "It is required.") {
        refusals.refuse(path + [name], as: .missingMember, rule)
    }

    /// A string; nil if it is missing or invalid.
    func string(_ name: String) -> String? {
        guard let value = object[name] else { return nil }
        if value.string == nil { refuse(name, "A string is expected.") }
        return value.string
    }

    /// A whole number in a range; nil if it is missing or invalid.
    func integer(_ name: String, in range: ClosedRange<Int>, _ rule: String) -> Int? {
        guard let value = object[name] else { return nil }
        if let number = value.number?.wholeNumber, range.contains(number) { return number }
        return refused(name, rule)
    }

    /// A string that is not empty and not too long.
    func name(_ name: String) -> String? {
        guard let text = string(name) else { return nil }
        if text.utf8.count > Self.mostBytes { return refused(name, Self.lengthRule) }
        return text.isEmpty ? refused(name, "It must not be empty.") : text
    }

    /// A string that is not too long, or null. Outer nil: missing or invalid; inner nil: null.
    func optionalString(_ name: String, mayBeEmpty: Bool = true) -> String?? {
        guard let value = object[name] else { return nil }
        if value.isNull { return .some(nil) }
        guard let text = value.string else { return refused(name, "A string or null is expected.") }
        if text.utf8.count > Self.mostBytes { return refused(name, Self.lengthRule) }
        if text.isEmpty, !mayBeEmpty { return refused(name, "It must not be empty.") }
        return .some(text)
    }

    func bool(_ name: String) -> Bool? {
        guard let value = object[name] else { return nil }
        if value.bool == nil { refuse(name, "true or false is expected.") }
        return value.bool
    }

    /// A list of strings that a rule admits; nil if it is missing or invalid.
    func strings(_ name: String, _ rule: NameRule) -> [String]? {
        guard let value = object[name] else { return nil }
        guard let elements = value.array else { return refused(name, "A list of strings is expected.") }
        // Fields count towards no quota, and events need the keys of all of them.
        let most =
            switch rule {
            case .item: NameRule.mostItems
            case .field: 4_096
            }
        guard (1...most).contains(elements.count) else {
            return refused(name, "A list of 1 to \(most) names is expected.")
        }
        var names: [String] = []
        var bytes = 0
        for (index, element) in elements.enumerated() {
            guard let text = element.string, rule.admits(text) else {
                refusals.refuse(path + [name, "\(index)"], rule.sentence)
                if refusals.isFull { return nil }
                continue
            }
            names.append(text)
            bytes += text.utf8.count
        }
        if rule == .field, bytes > Self.mostBytes {
            return refused(name, "Names of at most \(Self.mostBytes) bytes in all are expected.")
        }
        return names.count == elements.count ? names : nil
    }

    func object(_ name: String) -> ObjectReader? {
        guard let value = object[name] else { return nil }
        guard let object = value.object else { return refused(name, "An object is expected.") }
        return ObjectReader(object, at: path + [name], refusals)
    }
}
