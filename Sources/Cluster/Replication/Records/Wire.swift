internal import Primitives
internal import SessionCore

/// The bytes of one type of values: the description from which both writing and reading follow.
package struct Wire<Value>: Sendable {
    let write: @Sendable (inout [UInt8], Value) -> Void
    let read: @Sendable (inout ByteReader) throws(CodingError) -> Value

    init(
        _ write: @escaping @Sendable (inout [UInt8], Value) -> Void,
        _ read: @escaping @Sendable (inout ByteReader) throws(CodingError) -> Value
    ) {
        self.write = write
        self.read = read
    }

    /// A record of these fields, in their order. `make` returns the record for the values of its fields.
    package init<each Field>(
        _ make: @escaping @Sendable (repeat each Field) throws(CodingError) -> Value,
        _ fields: repeat (@Sendable (Value) -> each Field, Wire<each Field>)
    ) {
        self.init { bytes, value in
            repeat (each fields).1.write(&bytes, (each fields).0(value))
        } _: { reader throws(CodingError) in
            try make(repeat try (each fields).1.read(&reader))
        }
    }

    /// A record of these fields, in their order. Reading begins with `blank` and sets each field.
    package init(_ blank: Value, _ fields: [Field]) where Value: Sendable {
        self.init { bytes, value in
            for field in fields { field.write(&bytes, value) }
        } _: { reader throws(CodingError) in
            var value = blank
            for field in fields { try field.read(&reader, &value) }
            return value
        }
    }

    package struct Field: Sendable {
        let write: @Sendable (inout [UInt8], Value) -> Void
        let read: @Sendable (inout ByteReader, inout Value) throws(CodingError) -> Void

        package init<Part>(_ path: any WritableKeyPath<Value, Part> & Sendable, _ wire: Wire<Part>) {
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
    package init(cases: [Case]) {
        let byTag = cases.reduce(into: [Case?](repeating: nil, count: 1 + Int(cases.map(\.tag).max() ?? 0))) {
            precondition($0[Int($1.tag)] == nil, "two cases have the tag \($1.tag)")
            $0[Int($1.tag)] = $1
        }
        self.init { bytes, value in
            let isWritten = cases.contains { $0.write(&bytes, value) }
            precondition(isWritten, "a value of \(Value.self) has no case")
        } _: { reader throws(CodingError) in
            let tag = Int(try reader.byte())
            guard tag < byTag.count, let found = byTag[tag] else { throw .malformed }
            return try found.read(&reader)
        }
    }

    /// One case of an enumeration. The tag of a case that was removed is not used again.
    package struct Case: Sendable {
        let tag: UInt8
        /// Writes nothing, and returns false, for a value of another case.
        let write: @Sendable (inout [UInt8], Value) -> Bool
        let read: @Sendable (inout ByteReader) throws(CodingError) -> Value

        /// A case with a payload, which `payload` returns for its values and nil for those of other cases.
        package init<each Field>(
            _ tag: UInt8,
            _ fields: repeat Wire<each Field>,
            make: @escaping @Sendable (repeat each Field) throws(CodingError) -> Value,
            payload: @escaping @Sendable (Value) -> (repeat each Field)?
        ) {
            self.tag = tag
            write = { bytes, value in
                guard let payload = payload(value) else { return false }
                bytes.append(tag)
                repeat (each fields).write(&bytes, each payload)
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

/// The parts of the description of a type, which stands in the type as `wire`.
package typealias Case<Value> = Wire<Value>.Case
package typealias Field<Value> = Wire<Value>.Field

extension Wire {
    /// The bytes of a value.
    package func bytes(_ value: Value) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        write(&bytes, value)
        return bytes
    }

    /// The value of which these are all bytes.
    package func value(_ bytes: some Sequence<UInt8>) throws(CodingError) -> Value {
        try value(ByteReader(ArraySlice(bytes)))
    }

    /// The value that a reader has to the end of its bytes.
    func value(_ reader: consuming ByteReader) throws(CodingError) -> Value {
        let value = try read(&reader)
        guard reader.remaining == 0 else { throw .malformed }
        return value
    }
}

// MARK: - Values

extension Wire<UInt8> { static let byte = Wire({ $0.append($1) }, { reader throws(CodingError) in try reader.byte() }) }

extension Wire<Bool> {
    package static let bool = Wire { bytes, value in
        bytes.append(value ? 1 : 0)
    } _: { reader throws(CodingError) in
        let byte = try reader.byte()
        guard byte < 2 else { throw .malformed }
        return byte == 1
    }
}

extension Wire<UInt64> {
    /// Eight bytes, the lowest one first.
    package static let fixed64 = Wire { bytes, value in
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    } _: { reader throws(CodingError) in
        try reader.raw(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    package static let varint = Wire {
        Varint.append($1, to: &$0)
    } _: { reader throws(CodingError) in
        try reader.varint()
    }
}

extension Wire<Int> {
    /// A signed number, zigzag coded: small absolute values take few bytes.
    package static let signed = Wire { bytes, value in
        Varint.append(UInt64(bitPattern: Int64(value << 1) ^ Int64(value >> (Int.bitWidth - 1))), to: &bytes)
    } _: { reader throws(CodingError) in
        let value = try reader.varint()
        return Int(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1))
    }

    /// A number from 0 on; greater ones than `maxSize` are read as that.
    static let size = Wire { bytes, value in
        Varint.append(UInt64(clamping: value), to: &bytes)
    } _: { reader throws(CodingError) in
        Int(min(try reader.varint(), UInt64(maxSize)))
    }

    /// The greatest `size` that is read: many of them can be added.
    static let maxSize = Int(UInt32.max)
}

extension Wire<Double> { package static let double = Wire<UInt64>.fixed64.map(\.bitPattern) { Double(bitPattern: $0) } }

extension Wire<String> {
    package static let string = Wire { bytes, value in
        Varint.append(UInt64(value.utf8.count), to: &bytes)
        bytes += value.utf8
    } _: { reader throws(CodingError) in
        String(decoding: try reader.blob(), as: UTF8.self)
    }
}

extension Wire<[UInt8]> {
    package static let blob = Wire<ArraySlice<UInt8>>.slice.map({ $0[...] }, from: { Array($0) })
}

extension Wire<ArraySlice<UInt8>> {
    /// The number of bytes, then the bytes.
    static let slice = Wire { bytes, value in
        Varint.append(UInt64(value.count), to: &bytes)
        bytes += value
    } _: { reader throws(CodingError) in
        try reader.blob()
    }
    /// All bytes up to the end.
    static let rest = Wire({ $0 += $1 }, { reader throws(CodingError) in try reader.raw(UInt64(reader.remaining)) })
}

extension Wire {
    /// Values that are written as others.
    package func map<Other>(
        _ write: @escaping @Sendable (Other) -> Value,
        from read: @escaping @Sendable (Value) throws(CodingError) -> Other
    ) -> Wire<Other> {
        Wire<Other>(read, (write, self))
    }

    static func raw<Raw>(_ raw: Wire<Raw>) -> Wire where Value: RawRepresentable<Raw> & Sendable {
        raw.map(\.rawValue) { value throws(CodingError) in
            guard let value = Value(rawValue: value) else { throw .malformed }
            return value
        }
    }

    /// Whether there is a value, and the value.
    package static func optional<Wrapped>(_ wrapped: Wire<Wrapped>) -> Wire where Value == Wrapped? {
        Wire { bytes, value in
            bytes.append(value == nil ? 0 : 1)
            if let value { wrapped.write(&bytes, value) }
        } _: { reader throws(CodingError) in
            try Wire<Bool>.bool.read(&reader) ? try wrapped.read(&reader) : nil
        }
    }

    /// The number of values, then the values.
    package static func list<Element>(_ element: Wire<Element>) -> Wire where Value == [Element] {
        Wire { bytes, values in
            Varint.append(UInt64(values.count), to: &bytes)
            for value in values { element.write(&bytes, value) }
        } _: { reader throws(CodingError) in
            let count = try reader.varint()
            // Each value has at least one byte, so memory is reserved for no more values than bytes.
            guard count <= UInt64(reader.remaining) else { throw .truncated }
            return try (0..<count).map { _ throws(CodingError) in try element.read(&reader) }
        }
    }

    /// A list of keys with their values, in the order of the keys.
    static func dictionary<Key: Comparable & Sendable, Element>(
        _ key: Wire<Key>,
        _ element: Wire<Element>
    ) -> Wire where Value == [Key: Element] {
        Wire { bytes, values in
            Varint.append(UInt64(values.count), to: &bytes)
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                key.write(&bytes, name)
                element.write(&bytes, value)
            }
        } _: { reader throws(CodingError) in
            var values: [Key: Element] = [:]
            for _ in 0..<(try reader.varint()) { values[try key.read(&reader)] = try element.read(&reader) }
            return values
        }
    }
}

/// Reads the bytes that `Wire` writes. Does not trap for any bytes.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var index: Int
    /// Returns the layout of the updates of a subscription, by its id; nil while it is not subscribed.
    var layouts: (String) -> SubscriptionLayout?
    /// The layout of the subscription that was read last.
    var layout: SubscriptionLayout?

    init(_ bytes: ArraySlice<UInt8>, layouts: @escaping (String) -> SubscriptionLayout? = { _ in nil }) {
        self.bytes = bytes
        index = bytes.startIndex
        self.layouts = layouts
    }

    var remaining: Int { bytes.endIndex - index }

    mutating func byte() throws(CodingError) -> UInt8 {
        guard index < bytes.endIndex else { throw .truncated }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func varint() throws(CodingError) -> UInt64 {
        do throws(Varint.Failure) {
            return try Varint.read(bytes, at: &index)
        } catch {
            throw error == .truncated ? .truncated : .malformed
        }
    }

    mutating func blob() throws(CodingError) -> ArraySlice<UInt8> { try raw(try varint()) }

    mutating func raw(_ count: UInt64) throws(CodingError) -> ArraySlice<UInt8> {
        guard count <= UInt64(remaining) else { throw .truncated }
        defer { index += Int(count) }
        return bytes[index..<index + Int(count)]
    }
}
