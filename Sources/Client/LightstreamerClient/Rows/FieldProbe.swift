internal import SessionCore

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
            throw ClientError(
                .invalidValue,
                property: "fields",
                value: "\(type)",
                rule: "does not tell its fields: make its CodingKeys CaseIterable, or pass SubscriptionProperties"
            )
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

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { value(key).bool }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { value(key).string }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { value(key).number() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { value(key).number() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { value(key).number() }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { value(key).number() }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { value(key).number() }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { value(key).number() }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { value(key).number() }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { value(key).number() }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { value(key).number() }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { value(key).number() }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { value(key).number() }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { value(key).number() }

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
private struct EmptyValue: Decoder, SingleValueDecodingContainer {
    static let error = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not a single value"))

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var bool: Bool { false }
    var string: String { "" }

    func number<Value: Numeric>() -> Value { .zero }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw Self.error }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.error }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { true }
    func decode(_ type: Bool.Type) throws -> Bool { bool }
    func decode(_ type: String.Type) throws -> String { string }
    func decode(_ type: Double.Type) throws -> Double { number() }
    func decode(_ type: Float.Type) throws -> Float { number() }
    func decode(_ type: Int.Type) throws -> Int { number() }
    func decode(_ type: Int8.Type) throws -> Int8 { number() }
    func decode(_ type: Int16.Type) throws -> Int16 { number() }
    func decode(_ type: Int32.Type) throws -> Int32 { number() }
    func decode(_ type: Int64.Type) throws -> Int64 { number() }
    func decode(_ type: UInt.Type) throws -> UInt { number() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { number() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { number() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { number() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { number() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }
}
