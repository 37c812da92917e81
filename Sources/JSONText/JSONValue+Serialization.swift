extension JSONValue {
    /// The compact text: no white space, members in their order, numbers as they were written, `/` not escaped.
    package func serialized() -> [UInt8] {
        var writer = JSONBytes()
        writer.value(self)
        return writer.bytes
    }

    /// The compact text as a string.
    package var text: String { String(decoding: serialized(), as: UTF8.self) }
}

extension JSONBytes {
    /// Writes any value.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let number): raw(number.text)
        case .string(let text): string(text)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                key(member.name)
                self.value(member.value)
            }
            endObject()
        }
    }
}
