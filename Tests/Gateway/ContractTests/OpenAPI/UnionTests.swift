import JSONText
import Testing

@Suite struct UnionTests {
    private let contract: OpenAPIDocument

    init() throws { contract = try OpenAPIDocument() }

    /// Generated clients try the schemas of a union in the order of their names, and send the members of the first one whose
    /// required members are there.
    @Test func aSchemaWithoutRequiredMembersIsTheLastOfItsUnion() throws {
        for schema in try #require(contract.root["components"]?["schemas"]?.object) {
            let choices = (schema.value["oneOf"]?.array ?? []).sorted { name($0) < name($1) }
            for choice in choices.dropLast() {
                #expect(hasRequiredMembers(choice), "\(name(choice)) of \(schema.name)")
            }
        }
    }

    private func name(_ reference: JSONValue) -> String { reference["$ref"]?.string ?? "" }

    private func hasRequiredMembers(_ schema: JSONValue) -> Bool {
        let resolved = contract.resolve(schema)
        if resolved["required"]?.array?.isEmpty == false { return true }
        let parts = (resolved["allOf"]?.array ?? []) + (resolved["$ref"] == nil ? [] : [resolved])
        return parts.contains { hasRequiredMembers($0) }
    }
}
