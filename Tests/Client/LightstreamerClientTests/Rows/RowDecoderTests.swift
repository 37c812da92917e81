internal import SessionCore
internal import Testing

@testable internal import LightstreamerClient

@Suite struct RowDecoderTests {
    private enum Side: String, Decodable, CaseIterable { case buy, sell }

    private struct Quote: Decodable, Equatable {
        var name: String
        var price: Double
        var quantity: Int?
        var side: Side
        var isOpen: Bool

        enum CodingKeys: String, CodingKey {
            case name = "stock_name"
            case price = "last_price"
            case quantity, side
            case isOpen = "is_open"
        }
    }

    private static let names = ["stock_name", "last_price", "quantity", "side", "is_open"]

    private func decode<Row: Decodable>(_ type: Row.Type, _ values: String?..., names: [String] = names) throws -> Row {
        let layout = SubscriptionLayout(itemNames: ["a"], fieldNames: names, fieldCount: names.count)
        let update = ItemUpdate(layout: layout, itemPos: 1, isSnapshot: true, values: values, changed: FieldSet())
        return try Row(from: RowDecoder(update: update))
    }

    @Test func codingKeysOfTheTypeAreItsFields() throws {
        #expect(try FieldProbe.fields(of: Quote.self) == Self.names)
    }

    @Test func casesOfCodingKeysAreTheFieldsOfATypeThatRefusesEmptyValues() throws {
        struct Strict: Decodable {
            var side: Side
            var code: String

            enum CodingKeys: CodingKey, CaseIterable { case code, side }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                code = try container.decode(String.self, forKey: .code)
                if code.isEmpty { throw ClientError(.invalidValue, rule: "must not be empty") }
                side = try container.decode(Side.self, forKey: .side)
            }
        }
        #expect(try FieldProbe.fields(of: Strict.self) == ["code", "side"])
    }

    @Test func typeWithoutKnownFieldsIsRefused() {
        let error = #expect(throws: ClientError.self) { try FieldProbe.fields(of: [String].self) }
        #expect(error?.code == .invalidValue && error?.property == "fields")
    }

    @Test func textsBecomeValues() throws {
        let quote = try decode(Quote.self, "Anduct", "3.5", nil, "sell", "true")
        #expect(quote == Quote(name: "Anduct", price: 3.5, quantity: nil, side: .sell, isOpen: true))
        #expect(try decode(Quote.self, "", "3", "7", "buy", "false").quantity == 7)
    }

    @Test func nullForAMemberThatIsNotOptionalIsAnError() {
        #expect(throws: DecodingError.self) { try decode(Quote.self, nil, "3.5", nil, "sell", "true") }
    }

    @Test func errorNamesFieldValueAndItem() throws {
        do {
            _ = try decode(Quote.self, "Anduct", "three", nil, "sell", "true")
            Issue.record("decoded")
        } catch DecodingError.typeMismatch(_, let context) {
            #expect(context.debugDescription == "last_price = three in item a is no Double")
            #expect(context.codingPath.map(\.stringValue) == ["last_price"])
        }
    }

    @Test func fieldThatIsNotSubscribedIsAnError() {
        #expect(throws: DecodingError.self) { try decode(Quote.self, "Anduct", names: ["stock_name"]) }
    }
}
