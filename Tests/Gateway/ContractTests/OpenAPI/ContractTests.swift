import JSONText
import SessionPool
import Testing

@testable import Gateway

@Suite struct ContractTests {
    private let contract: OpenAPIDocument
    private let operations = ContractFixture.operations()

    init() throws { contract = try OpenAPIDocument() }

    @Test func everyRouteIsDocumentedAndEveryOperationRouted() {
        let routed = Set(operations.map { "\($0.method.rawValue) \($0.pattern) \($0.name)" })
        let documented = Set(contract.operations.map { "\($0.method) \($0.path) \($0.name)" })
        #expect(routed.subtracting(documented).isEmpty, "routed but not documented")
        #expect(documented.subtracting(routed).isEmpty, "documented but not routed")
        #expect(operations.count == routed.count)
    }

    @Test func statusesAndQueryParametersAreTheSameOnBothSides() throws {
        for operation in contract.operations {
            let row = try #require(operations.first { $0.name == operation.name })
            #expect(row.statuses == operation.statuses, "statuses of \(operation.name)")
            if let query = row.query { #expect(Set(query) == operation.query, "query of \(operation.name)") }
        }
    }

    /// A client chooses its timeouts and its repetitions by these numbers.
    @Test func theBoundsOfWaitsAndOfIdempotencyAreDocumented() throws {
        let text = try #require(contract.root["info"]?["description"]?.string).replacing("\n", with: " ")
        let wait = PreferHeader.longestWait
        #expect(text.contains("more than \(wait) count as \(wait)."))
        let prefer = contract.root["components"]?["parameters"]?["Prefer"]?["description"]?.string
        #expect(prefer?.contains("\(wait) at most") == true)
        let (most, minutes) = (IdempotencyStore.most, Int(IdempotencyStore.lifetime / .seconds(60)))
        #expect(text.contains("A key is known for \(minutes) minutes"))
        #expect(most.entries == 10_000 && text.contains("10,000 keys"))
        #expect(text.contains("\(most.bytes >> 20) MiB"))
    }

    /// A patch of an upstream depends on no state.
    @Test func thePatchOfAnUpstreamDeclaresNoConflict() throws {
        let patch = try #require(contract.operations.first { $0.name == "patchUpstream" })
        #expect(!patch.statuses.contains(409))
    }

    @Test func pathParametersAreDeclared() throws {
        for (path, item) in try pairs(contract.root["paths"]) {
            let declared = (item["parameters"]?.array ?? []).map(contract.resolve)
                .filter { $0["in"]?.string == "path" }.compactMap { $0["name"]?.string }
            let used = PathPattern(path).segments.compactMap { segment in
                if case .parameter(let name) = segment { name } else { nil }
            }
            #expect(Set(declared) == Set(used), "\(path)")
        }
    }

    @Test func headersThatOperationsHonourAreDeclared() throws {
        for (path, item) in try pairs(contract.root["paths"]) {
            for (method, operation) in try pairs(item) where operation["operationId"] != nil {
                let declared = (operation["parameters"]?.array ?? []).map(contract.resolve)
                    .filter { $0["in"]?.string == "header" }.compactMap { $0["name"]?.string }
                let statuses = Set((operation["responses"]?.object ?? JSONObject()).map(\.name))
                #expect(declared.contains("Idempotency-Key") == (method == "post"), "\(method) \(path)")
                let isTagged = item["get"]?["responses"]?["304"] != nil
                let honoursTags = method == "patch" || ["get", "delete"].contains(method) && isTagged
                #expect(honoursTags == statuses.contains("412"), "\(method) \(path)")
                #expect(declared.contains("If-None-Match") == statuses.contains("304"), "\(method) \(path)")
            }
        }
    }

    /// Headers that some of the responses to a request have beside those of the others.
    @Test(arguments: [
        ("NotModified", "Link"), ("NullValue", "Link"), ("SubscriptionAccepted", "Preference-Applied"),
        ("NotFound", "Idempotency-Replayed"), ("Conflict", "Idempotency-Replayed"), ("Refused", "Preference-Applied"),
        ("PreconditionFailed", "Preference-Applied"), ("NotAcceptable", "Preference-Applied"),
        ("Malformed", "WWW-Authenticate"),
    ])
    func headersOfSharedResponsesAreDeclared(response: String, header: String) {
        #expect(contract.root["components"]?["responses"]?[response]?["headers"]?[header] != nil)
    }

    @Test(arguments: ["", "/{item}", "/{item}/{field}"])
    func shortURLsOfFeedsAreDeclaredAsStreams(path: String) {
        let responses = contract.root["paths"]?["/feeds/{feed}\(path)"]?["get"]?["responses"]
        #expect(responses?["200"]?["content"]?["text/event-stream"] != nil)
    }

    @Test func problemCodesAreTheSameOnBothSides() {
        let schema = contract.root["components"]?["schemas"]?["ProblemCode"]
        let documented = (schema?["enum"]?.array ?? []).compactMap(\.string)
        #expect(Set(documented) == Set(ProblemCode.allCases.map(\.rawValue)))
        #expect(documented.count == Set(documented).count)
    }

    @Test func problemsInExamplesHaveTheTitleOfTheirCode() throws {
        var count = 0
        for (name, response) in try pairs(contract.root["components"]?["responses"]) {
            let examples = response["content"]?["application/problem+json"]?["examples"]?.object
            for example in examples.map({ $0.map(\.value) }) ?? [] {
                let problem = try #require(example["value"])
                let code = try #require(ProblemCode(rawValue: problem["code"]?.string ?? ""), "\(name)")
                #expect(problem["title"]?.string == code.title, "\(name)")
                #expect(problem["type"]?.string == "/docs#\(code.rawValue)", "\(name)")
                count += 1
            }
        }
        #expect(count > 10)
    }

    /// Examples of problems from errors of the pool, which the handler of a request may add the place of.
    @Test(arguments: [
        ("Forbidden", "address", PoolError.addressNotAllowed("http://example.org")),
        (
            "Conflict", "active",
            .lifecycle(rule: "only requestedMaxFrequency and ttl may change while the subscription is active")
        ),
        ("TooMany", "quota", .overQuota(.subscriptions(upstream: "demo", limit: 4000))),
    ])
    func problemsInExamplesHaveTheTextOfTheirError(response: String, name: String, error: PoolError) {
        let content = contract.root["components"]?["responses"]?[response]?["content"]?["application/problem+json"]
        let example = content?["examples"]?[name]?["value"]
        let problem = ProblemDetails.problem(for: error)
        #expect(example?["code"]?.string == problem.code.rawValue)
        #expect(example?["detail"]?.string == problem.detail)
        for entry in example?["errors"]?.array ?? [] { #expect(entry["detail"]?.string == problem.detail) }
    }

    @Test func everyReferenceLeadsSomewhere() {
        var lost: [String] = []
        visit(contract.root) { value in
            if let reference = value["$ref"]?.string, contract.resolve(value).isNull { lost.append(reference) }
        }
        #expect(lost.isEmpty)
    }

    /// A comma ends a text without quotes inside of braces; the rest becomes the name of a member.
    @Test func noTextEndsAtAComma() {
        var names: [String] = []
        visit(contract.root) { value in
            for member in value.object ?? JSONObject() where member.value.isNull && member.name.contains(" ") {
                names.append(member.name)
            }
        }
        #expect(names == [])
    }

    /// Code generators do not read schemas that are `true` or `false`.
    @Test func onlyRulesHaveBooleanSchemas() {
        func look(_ value: JSONValue, at place: String) {
            for property in value["properties"]?.object ?? JSONObject() where property.value.bool != nil {
                Issue.record("\(place)/\(property.name)")
            }
            switch value {
            case .object(let object):
                for member in object where !member.name.hasPrefix("x-") && member.name != "examples" {
                    look(member.value, at: "\(place)/\(member.name)")
                }
            case .array(let array):
                for (index, element) in array.enumerated() { look(element, at: "\(place)/\(index)") }
            default: break
            }
        }
        look(contract.root, at: "")
    }

    /// Generators make one class for each tag, and repeat in it what they make of an operation.
    @Test func everyOperationHasOneTag() throws {
        for (path, item) in try pairs(contract.root["paths"]) {
            for (method, operation) in try pairs(item) where operation["operationId"] != nil {
                #expect(operation["tags"]?.array?.count == 1, "\(method) \(path)")
            }
        }
    }

    /// Generators name the values of a member after its schema, and those of a parameter after its operation.
    @Test func listsOfValuesHaveNamesOfTheirOwn() throws {
        var members: Set<String> = []
        for (name, schema) in try pairs(contract.root["components"]?["schemas"]) {
            for property in schema["properties"]?.object ?? JSONObject() where property.value["enum"] != nil {
                members.insert((name + property.name).lowercased())
            }
        }
        for (path, item) in try pairs(contract.root["paths"]) {
            for (_, operation) in try pairs(item) {
                for parameter in (operation["parameters"]?.array ?? []).map(contract.resolve) {
                    guard parameter["schema"]?["enum"] != nil else { continue }
                    let name = [operation["operationId"], parameter["name"]].compactMap { $0?.string }.joined()
                    #expect(!members.contains(name.lowercased()), "\(path) \(name)")
                }
            }
        }
    }

    @Test func theContractIsServedAsJSON() throws {
        let root = try JSONValue(parsing: ContractJSON.document.bytes.array)
        #expect(root.isEquivalent(to: contract.root))
    }

    @Test func everyExampleIsValid() {
        let check = SchemaCheck(contract: contract)
        var count = 0
        visit(contract.root) { value in
            guard let schema = value["schema"] else { return }
            for example in (value["examples"]?.object).map({ $0.map(\.value) }) ?? [] {
                guard let content = contract.resolve(example)["value"] else { continue }
                count += 1
                #expect(check.faults(of: content, by: schema).isEmpty, "\(content.text)")
            }
            if let example = value["example"] {
                count += 1
                #expect(check.faults(of: example, by: schema).isEmpty, "\(example.text)")
            }
        }
        #expect(count > 60)
    }

    /// Generated clients send the defaults of members that their callers leave out.
    @Test(arguments: ["NewSubscription", "NewStreamThatJoins", "SubscriptionToJoin"])
    func aFeedIsValidBesideTheDefaultsOfOtherMembers(name: String) throws {
        let schema = try #require(contract.root["components"]?["schemas"]?[name])
        let body = JSONValue.object(filled(JSONObject([.init(name: "feed", value: "quotes")]), schema))
        #expect(SchemaCheck(contract: contract).faults(of: body, by: schema).isEmpty, "\(body.text)")
    }

    /// `POST /v1/messages` and `POST /v1/clients/{id}/messages` share the schema, and differ in what a missing member means.
    @Test func whetherAMessageWaitsHasNoDefaultForBothOperations() {
        let message = contract.root["components"]?["schemas"]?["NewMessage"]
        #expect(message?["properties"]?["enqueueWhileDisconnected"]?["type"]?.string == "boolean")
        #expect(message?["properties"]?["enqueueWhileDisconnected"]?["default"] == nil)
    }

    @Test(arguments: [
        ("http://127.0.0.1:60123", true), ("https://push.my-company.example.co.uk:65535/lightstreamer", true),
        ("http://[::1]:8080", true), ("http://demo_server:8080", true), ("http://localhost", true),
        ("http://localhost:65536", false), ("http://localhost:0", false), ("tcp://localhost", false),
        ("http://", false), ("http://a b", false), ("http://a?b", false),
    ])
    func serverAddressesAreRefusedAsDescribed(address: String, isAdmitted: Bool) throws {
        let schema = try #require(contract.root["components"]?["schemas"]?["ServerAddress"])
        #expect(SchemaCheck(contract: contract).faults(of: .string(address), by: schema).isEmpty == isAdmitted)
        #expect(ServerAddressRule.admits(address) == isAdmitted)
    }

    @Test func everyBodyRefusesUnknownMembersAndHasExamples() throws {
        for (path, item) in try pairs(contract.root["paths"]) {
            for (method, operation) in try pairs(item) {
                guard let body = operation["requestBody"].map(contract.resolve) else { continue }
                for (type, content) in try pairs(body["content"]) {
                    #expect(content["examples"] != nil, "\(method) \(path) \(type)")
                    let check = SchemaCheck(contract: contract)
                    let probe = JSONValue.object(JSONObject([.init(name: "nonsense", value: true)]))
                    let isClosed = isClosed(content["schema"] ?? .null)
                    #expect(isClosed || !check.faults(of: probe, by: content["schema"] ?? .null).isEmpty)
                }
            }
        }
    }

    // MARK: - Walking

    /// An object with the defaults of the members that it lacks.
    private func filled(_ object: JSONObject, _ schema: JSONValue) -> JSONObject {
        let schema = contract.resolve(schema)
        var object = object
        for part in schema["allOf"]?.array ?? [] { object = filled(object, part) }
        for property in schema["properties"]?.object ?? JSONObject() where object[property.name] == nil {
            object[property.name] = contract.resolve(property.value)["default"] ?? property.value["default"]
        }
        return object
    }

    private func isClosed(_ schema: JSONValue) -> Bool {
        let schema = contract.resolve(schema)
        if schema["additionalProperties"]?.bool == false || schema["unevaluatedProperties"]?.bool == false {
            return true
        }
        let parts = schema["oneOf"]?.array ?? []
        return !parts.isEmpty && parts.allSatisfy { isClosed($0) }
    }

    private func pairs(_ value: JSONValue?) throws -> [(String, JSONValue)] {
        try #require(value?.object).map { ($0.name, $0.value) }
    }

    private func visit(_ value: JSONValue, _ look: (JSONValue) -> Void) {
        look(value)
        switch value {
        case .object(let object): for member in object { visit(member.value, look) }
        case .array(let array): for element in array { visit(element, look) }
        default: break
        }
    }
}
