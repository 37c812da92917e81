import JSONText
import Testing

/// What programs that make clients from the contract depend on.
@Suite struct GeneratedClientTests {
    private let contract: OpenAPIDocument

    init() throws { contract = try OpenAPIDocument() }

    /// Tools send requests to one of the servers, and do not accept responses of others.
    @Test func theServerIsTheGatewayThatServesTheDocument() {
        #expect(contract.root["servers"]?.array?.map { $0["url"]?.string } == ["/"])
    }

    /// Generated clients try the schemas of a union in the order of their names, and send the members of the first one whose
    /// required members are there.
    @Test func aSchemaWithoutRequiredMembersIsTheLastOfItsUnion() throws {
        for (name, schema) in try schemas() {
            let choices = (schema["oneOf"]?.array ?? []).sorted { self.name($0) < self.name($1) }
            for choice in choices.dropLast() {
                #expect(hasRequiredMembers(choice), "\(self.name(choice)) of \(name)")
            }
        }
    }

    /// Generators make no class of a schema that is an object or null, or one whose name is not that of the schema.
    @Test func noSchemaWithMembersIsNull() throws {
        for (name, schema) in try schemas() where schema["properties"] != nil {
            #expect(schema["type"]?.array == nil, "\(name)")
        }
    }

    private func schemas() throws -> [(String, JSONValue)] {
        try #require(contract.root["components"]?["schemas"]?.object).map { ($0.name, $0.value) }
    }

    private func name(_ reference: JSONValue) -> String { reference["$ref"]?.string ?? "" }

    private func hasRequiredMembers(_ schema: JSONValue) -> Bool {
        let resolved = contract.resolve(schema)
        if resolved["required"]?.array?.isEmpty == false { return true }
        let parts = (resolved["allOf"]?.array ?? []) + (resolved["$ref"] == nil ? [] : [resolved])
        return parts.contains { hasRequiredMembers($0) }
    }
}
