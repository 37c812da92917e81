internal import SessionCore

/// Decodes a value from the fields of an update by name.
struct RowDecoder: Decoder {
    let update: ItemUpdate
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowContainer(update: update))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw mismatch(String.self) }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(type, DecodingError.Context(codingPath: [], debugDescription: "an update has fields by name"))
    }
}

/// The fields of an update by name.
private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let update: ItemUpdate
    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        ((update.layout.fieldNames ?? []) + (update.layout.secondLevelFieldNames ?? [])).compactMap(Key.init)
    }

    func contains(_ key: Key) -> Bool { update.layout.position(ofField: key.stringValue) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { update[key.stringValue] == nil }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try T(from: field(key)) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw try field(key).mismatch(type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw try field(key).mismatch([Any].self)
    }

    func superDecoder() throws -> any Decoder { RowDecoder(update: update) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

    private func field(_ key: Key) throws -> FieldDecoder {
        let context = DecodingError.Context(
            codingPath: [key],
            debugDescription: "\(key.stringValue) in \(update.place)"
        )
        guard contains(key) else { throw DecodingError.keyNotFound(key, context) }
        guard let text = update[key.stringValue] else { throw DecodingError.valueNotFound(String.self, context) }
        return FieldDecoder(text: text, key: key, place: update.place)
    }
}

/// Decodes one text, number or Boolean; other types decode from one of them.
protocol ScalarDecoder: Decoder, SingleValueDecodingContainer {
    /// The value as one of these types.
    func value<Value: LosslessStringConvertible>() throws -> Value

    func mismatch(_ type: Any.Type) -> DecodingError
}

extension ScalarDecoder {
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw mismatch(type)
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decode(_ type: Bool.Type) throws -> Bool { try value() }
    func decode(_ type: String.Type) throws -> String { try value() }
    func decode(_ type: Double.Type) throws -> Double { try value() }
    func decode(_ type: Float.Type) throws -> Float { try value() }
    func decode(_ type: Int.Type) throws -> Int { try value() }
    func decode(_ type: Int8.Type) throws -> Int8 { try value() }
    func decode(_ type: Int16.Type) throws -> Int16 { try value() }
    func decode(_ type: Int32.Type) throws -> Int32 { try value() }
    func decode(_ type: Int64.Type) throws -> Int64 { try value() }
    func decode(_ type: UInt.Type) throws -> UInt { try value() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try value() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try value() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try value() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try value() }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }
}

/// Decodes one field, which is not null.
private struct FieldDecoder: ScalarDecoder {
    let text: String
    let key: any CodingKey
    let place: String
    var codingPath: [any CodingKey] { [key] }

    func decodeNil() -> Bool { false }

    func value<Value: LosslessStringConvertible>() throws -> Value {
        guard let value = Value(text) else { throw mismatch(Value.self) }
        return value
    }

    func mismatch(_ type: Any.Type) -> DecodingError {
        let description = "\(key.stringValue) = \(text) in \(place) is no \(type)"
        return .typeMismatch(type, DecodingError.Context(codingPath: [key], debugDescription: description))
    }
}

extension ItemUpdate {
    /// The item, and the key in COMMAND mode, for errors.
    fileprivate var place: String {
        let item = itemName.map { "item \($0)" } ?? "item \(itemPos)"
        return key.map { "\(item), key \($0)" } ?? item
    }
}
