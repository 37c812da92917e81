internal import Primitives

/// The bytes of one type of values: the description from which both writing and reading follow.
struct Wire<Value>: Sendable {
    let write: @Sendable (inout ByteWriter, Value) -> Void
    let read: @Sendable (inout ByteReader) throws(CodingError) -> Value

    init(
        _ write: @escaping @Sendable (inout ByteWriter, Value) -> Void,
        _ read: @escaping @Sendable (inout ByteReader) throws(CodingError) -> Value
    ) {
        self.write = write
        self.read = read
    }

    /// A record of these fields, in their order. `make` returns the record for the values of its fields.
    init<each Field>(
        _ make: @escaping @Sendable (repeat each Field) throws(CodingError) -> Value,
        _ fields: repeat (@Sendable (Value) -> each Field, Wire<each Field>)
    ) {
        self.init { writer, value in
            repeat (each fields).1.write(&writer, (each fields).0(value))
        } _: { reader throws(CodingError) in
            try make(repeat try (each fields).1.read(&reader))
        }
    }

    /// A record of these fields, in their order. Reading begins with `blank` and sets each field.
    init(_ blank: Value, _ fields: [Field]) where Value: Sendable {
        self.init { writer, value in
            for field in fields { field.write(&writer, value) }
        } _: { reader throws(CodingError) in
            var value = blank
            for field in fields { try field.read(&reader, &value) }
            return value
        }
    }

    /// A field of a record.
    struct Field: Sendable {
        let write: @Sendable (inout ByteWriter, Value) -> Void
        let read: @Sendable (inout ByteReader, inout Value) throws(CodingError) -> Void

        init<Part>(_ path: any WritableKeyPath<Value, Part> & Sendable, _ wire: Wire<Part>) {
            self.init(path, wire) { value, part in value[keyPath: path] = part }
        }

        init<Part>(
            _ path: any KeyPath<Value, Part> & Sendable,
            _ wire: Wire<Part>,
            set: @escaping @Sendable (inout Value, Part) throws(CodingError) -> Void
        ) {
            write = { wire.write(&$0, $1[keyPath: path]) }
            read = { reader, value throws(CodingError) in try set(&value, try wire.read(&reader)) }
        }
    }

    /// One of some cases, after the byte that stands for it. Writing tries the cases in their order.
    init(cases: [Case]) {
        let byTag = cases.reduce(into: [Case?](repeating: nil, count: 1 + Int(cases.map(\.tag).max() ?? 0))) {
            precondition($0[Int($1.tag)] == nil, "two cases have the tag \($1.tag)")
            $0[Int($1.tag)] = $1
        }
        self.init { writer, value in
            let isWritten = cases.contains { $0.write(&writer, value) }
            precondition(isWritten, "a value of \(Value.self) has no case")
        } _: { reader throws(CodingError) in
            let tag = Int(try reader.byte())
            guard tag < byTag.count, let found = byTag[tag] else { throw .malformed }
            return try found.read(&reader)
        }
    }

    /// One case of an enumeration. The tag of a case that was removed is not used again.
    struct Case: Sendable {
        let tag: UInt8
        /// Writes nothing, and returns false, for a value of another case.
        let write: @Sendable (inout ByteWriter, Value) -> Bool
        let read: @Sendable (inout ByteReader) throws(CodingError) -> Value

        /// A case with a payload, which `payload` returns for its values and nil for those of other cases.
        init<each Field>(
            _ tag: UInt8,
            _ fields: repeat Wire<each Field>,
            make: @escaping @Sendable (repeat each Field) throws(CodingError) -> Value,
            payload: @escaping @Sendable (Value) -> (repeat each Field)?
        ) {
            self.tag = tag
            write = { writer, value in
                guard let payload = payload(value) else { return false }
                writer.byte(tag)
                repeat (each fields).write(&writer, each payload)
                return true
            }
            read = { reader throws(CodingError) in try make(repeat try (each fields).read(&reader)) }
        }

        /// A case without a payload.
        init(_ tag: UInt8, _ only: Value) where Value: Equatable & Sendable {
            self.init(tag, make: { only }, payload: { $0 == only ? () : nil })
        }
    }
}

// MARK: - Messages

extension Wire {
    /// The bytes of a value.
    func bytes(_ value: Value) -> [UInt8] {
        var writer = ByteWriter(reserving: 256)
        write(&writer, value)
        return writer.bytes
    }

    /// The value of which these are all bytes.
    func value(_ bytes: some Sequence<UInt8>) throws(CodingError) -> Value {
        try value(ByteReader(ArraySlice(bytes)))
    }

    /// The value that a reader has to the end of its bytes.
    func value(_ reader: consuming ByteReader) throws(CodingError) -> Value {
        let value = try read(&reader)
        try reader.finish()
        return value
    }

    /// A message that states its format, such as a call or a ticket: the format, then the value. A message with a layout of
    /// its own in a newer format is written in the format that the members write. Reading throws for a format that is not
    /// among some.
    func stating(_ format: UInt8 = Formats.supported.newest, among formats: Formats = .supported) -> Wire {
        Wire { writer, value in
            writer.byte(format)
            write(&writer, value)
        } _: { reader throws(CodingError) in
            guard formats.contains(try reader.byte()) else { throw .malformed }
            return try read(&reader)
        }
    }
}

// MARK: - Values

extension Wire<UInt8> { static let byte = Wire({ $0.byte($1) }, { reader throws(CodingError) in try reader.byte() }) }

extension Wire<Bool> { static let bool = Wire({ $0.bool($1) }, { reader throws(CodingError) in try reader.bool() }) }

extension Wire<UInt64> {
    static let fixed64 = Wire({ $0.fixed64($1) }, { reader throws(CodingError) in try reader.fixed64() })
    static let varint = Wire({ $0.varint($1) }, { reader throws(CodingError) in try reader.varint() })
}

extension Wire<Int> {
    static let signed = Wire({ $0.signed($1) }, { reader throws(CodingError) in try reader.signed() })
    static let size = Wire({ $0.size($1) }, { reader throws(CodingError) in try reader.size() })
}

extension Wire<Double> {
    static let double = Wire({ $0.double($1) }, { reader throws(CodingError) in try reader.double() })
}

extension Wire<String> {
    static let string = Wire({ $0.string($1) }, { reader throws(CodingError) in try reader.string() })
}

extension Wire<[UInt8]> {
    static let blob = Wire({ $0.blob($1) }, { reader throws(CodingError) in Array(try reader.blob()) })
}

extension Wire<ArraySlice<UInt8>> {
    static let slice = Wire({ $0.blob($1) }, { reader throws(CodingError) in try reader.blob() })
    /// All bytes up to the end.
    static let rest = Wire({ $0.raw($1) }, { reader throws(CodingError) in try reader.raw(UInt64(reader.remaining)) })
}

extension Wire<Duration> {
    static let duration = Wire<UInt64>.varint.map { (duration: Duration) in
        UInt64(clamping: duration.clampedNanoseconds)
    } from: {
        .nanoseconds(Int64(clamping: $0))
    }
}

extension Wire<Moment> {
    static let moment = Wire<UInt64>.fixed64.map { (moment: Moment) in
        UInt64(bitPattern: moment.nanoseconds)
    } from: {
        Moment(nanoseconds: Int64(bitPattern: $0))
    }
}

extension Wire {
    /// Values that are written as others.
    func map<Other>(
        _ write: @escaping @Sendable (Other) -> Value,
        from read: @escaping @Sendable (Value) throws(CodingError) -> Other
    ) -> Wire<Other> {
        Wire<Other>(read, (write, self))
    }

    /// The raw value.
    static func raw<Raw>(_ raw: Wire<Raw>) -> Wire where Value: RawRepresentable<Raw> & Sendable {
        raw.map(\.rawValue) { value throws(CodingError) in
            guard let value = Value(rawValue: value) else { throw .malformed }
            return value
        }
    }

    /// Whether there is a value, and the value.
    static func optional<Wrapped>(_ wrapped: Wire<Wrapped>) -> Wire where Value == Wrapped? {
        Wire { writer, value in
            writer.bool(value != nil)
            if let value { wrapped.write(&writer, value) }
        } _: { reader throws(CodingError) in
            try reader.bool() ? try wrapped.read(&reader) : nil
        }
    }

    /// The number of values, then the values.
    static func list<Element>(_ element: Wire<Element>) -> Wire where Value == [Element] {
        Wire { writer, values in
            writer.varint(UInt64(values.count))
            for value in values { element.write(&writer, value) }
        } _: { reader throws(CodingError) in
            let count = try reader.varint()
            // Each value has at least one byte, so memory is reserved for no more values than bytes.
            guard count <= UInt64(reader.remaining) else { throw .truncated }
            var values: [Element] = []
            values.reserveCapacity(Int(count))
            for _ in 0..<count { values.append(try element.read(&reader)) }
            return values
        }
    }

    /// A list of keys with their values, in the order of the keys.
    static func dictionary<Key: Comparable & Sendable, Element>(
        _ key: Wire<Key>,
        _ element: Wire<Element>
    ) -> Wire where Value == [Key: Element] {
        Wire { writer, values in
            writer.varint(UInt64(values.count))
            guard !values.isEmpty else { return }
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                key.write(&writer, name)
                element.write(&writer, value)
            }
        } _: { reader throws(CodingError) in
            var values: [Key: Element] = [:]
            for _ in 0..<(try reader.varint()) { values[try key.read(&reader)] = try element.read(&reader) }
            return values
        }
    }
}
