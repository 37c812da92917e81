/// Any JSON value (RFC 8259), with the text of its numbers and the order of its members kept as they were read.
///
/// `==` compares representations: strings by their bytes, numbers by their text, members in order; `isEquivalent(to:)`
/// compares meanings.
package enum JSONValue: Sendable, Hashable {
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number, with its text.
    case number(JSONNumber)
    /// A string, compared by bytes and never by canonical equivalence.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Named values in order.
    case object(JSONObject)

    /// Equal representations.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let value): value.hashBytes(into: &hasher)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }

    /// Whether both have the same meaning (RFC 6902 section 4.6): members in any order, numbers by value.
    package func isEquivalent(to other: JSONValue) -> Bool {
        switch (self, other) {
        case (.number(let left), .number(let right)): left.isEquivalent(to: right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isEquivalent(to: $1) }
        case (.object(let left), .object(let right)): left.isEquivalent(to: right)
        default: self == other
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object, members in the order written; of equal names the last one counts.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in elements { object[name] = value }
        self = .object(object)
    }
}

extension JSONValue {
    // The content of a value of one kind; nil for a value of another kind.

    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }
    package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    package var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    package var isNull: Bool { if case .null = self { true } else { false } }

    /// The member with this name, if this is an object that has one.
    package subscript(name: String) -> JSONValue? { object?[name] }
}

/// The members of a JSON object, in order. Names are compared by bytes.
package struct JSONObject: Sendable, Hashable, RandomAccessCollection {
    package struct Member: Sendable, Hashable {
        package var name: String
        package var value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }

        /// Equal names, by bytes, and equal values.
        package static func == (left: Member, right: Member) -> Bool {
            left.name.hasSameBytes(as: right.name) && left.value == right.value
        }

        package func hash(into hasher: inout Hasher) {
            name.hashBytes(into: &hasher)
            hasher.combine(value)
        }
    }

    /// The members, in order.
    package internal(set) var members: [Member]

    /// An object with these members, which are not checked for duplicate names.
    package init(_ members: [Member] = []) { self.members = members }

    package var startIndex: Int { 0 }
    package var endIndex: Int { members.count }
    package subscript(position: Int) -> Member { members[position] }

    /// The value of the member with a name, the last one if there are several. Setting appends a new name, keeps the
    /// position of an existing one, and with nil removes the member.
    package subscript(name: String) -> JSONValue? {
        get {
            guard let position = position(of: name) else { return nil }
            return members[position].value
        }
        set {
            switch (position(of: name), newValue) {
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): members.remove(at: position)
            case (nil, let value?): members.append(Member(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The position of the last member with a name.
    package func position(of name: String) -> Int? {
        for index in members.indices.reversed() where members[index].name.hasSameBytes(as: name) { return index }
        return nil
    }

    /// Whether both have equivalent members, in any order.
    fileprivate func isEquivalent(to other: JSONObject) -> Bool {
        guard count == other.count else { return false }
        // Where the order is the same, as it nearly always is, no name is searched.
        var positions: [ExactText: Int] = [:]
        for (index, member) in members.enumerated() {
            var position = index
            if !other.members[index].name.hasSameBytes(as: member.name) {
                if positions.isEmpty {
                    for (index, member) in other.members.enumerated() {
                        positions[ExactText(member.name)] = index
                    }
                }
                guard let found = positions[ExactText(member.name)] else { return false }
                position = found
            }
            guard other.members[position].value.isEquivalent(to: member.value) else { return false }
        }
        return true
    }
}

extension JSONValue {
    /// The deepest nesting of arrays and objects that is accepted by default.
    package static let maxDepth = 128

    /// Parses a whole text in the grammar of RFC 8259. Surrounding white space is allowed; a byte order mark is not.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8.
    ///   - maxDepth: the deepest nesting of arrays and objects; a plain value has depth 0.
    ///   - admitsDuplicates: whether an object may repeat a name; the last value counts.
    package init(
        parsing bytes: some Collection<UInt8>,
        maxDepth: Int = Self.maxDepth,
        admitsDuplicates: Bool = false
    ) throws(JSONParseError) {
        self = try Array(bytes).withUnsafeBufferPointer { bytes throws(JSONParseError) in
            var parser = JSONParser(bytes: bytes, maxDepth: maxDepth, admitsDuplicates: admitsDuplicates)
            return try parser.document()
        }
    }

    /// Parses a whole text in the grammar of RFC 8259.
    package init(parsing text: String, maxDepth: Int = Self.maxDepth) throws(JSONParseError) {
        try self.init(parsing: text.utf8, maxDepth: maxDepth)
    }
}
