/// Finds out the coding keys of a type by decoding it once from empty values.
final class FieldProbe: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var names: [String] = []
    /// Whether `names` are all cases of the coding keys.
    private var isComplete = false

    private init() {}

    /// The names of the fields that a type decodes. Throws `invalidValue` if it does not decode from empty values.
    static func fields<Row: Decodable>(of type: Row.Type) throws(ClientError) -> [String] {
        let probe = FieldProbe()
        do {
            _ = try Row(from: probe)
            return probe.names
        } catch {
            if probe.isComplete { return probe.names }
            let rule = "does not tell its fields: make its CodingKeys CaseIterable, or pass SubscriptionProperties"
            throw .invalid("fields", "\(type)", rule)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if let cases = type as? any CaseIterable.Type {
            names = Self.names(cases)
            isComplete = true
        }
        return KeyedDecodingContainer(ProbeContainer<Key> { [self] in note($0) })
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw EmptyValue.error }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw EmptyValue.error }

    private static func names<Cases: CaseIterable>(_ type: Cases.Type) -> [String] {
        type.allCases.compactMap { ($0 as? any CodingKey)?.stringValue }
    }

    private func note(_ name: String) { if !isComplete, !names.contains(name) { names.append(name) } }
}

/// Notes each key that is asked for, and has an empty value for it.
private struct ProbeContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let note: (String) -> Void
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
        note(key.stringValue)
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        note(key.stringValue)
        return true
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let value = value(key)
        if let cases = type as? any CaseIterable.Type, let first = Self.first(cases) as? T { return first }
        return try T(from: value)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw EmptyValue.error }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw EmptyValue.error }

    func superDecoder() throws -> any Decoder { throw EmptyValue.error }

    func superDecoder(forKey key: Key) throws -> any Decoder { value(key) }

    private func value(_ key: Key) -> EmptyValue {
        note(key.stringValue)
        return EmptyValue()
    }

    private static func first<Cases: CaseIterable>(_ type: Cases.Type) -> Any? { type.allCases.first }
}

/// An empty text, false or 0.
private struct EmptyValue: ScalarDecoder {
    static let error = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not a single value"))

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { true }

    func value<Value: LosslessStringConvertible>() throws -> Value {
        guard let value = Value("") ?? Value("0") ?? Value("false") else { throw Self.error }
        return value
    }

    func mismatch(_ type: Any.Type) -> DecodingError { Self.error }
}
