/// A path into a JSON value (RFC 6901).
package struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    /// The reference tokens, unescaped, outermost first; none: the whole document.
    package var tokens: [String]

    package init(tokens: [String] = []) { self.tokens = tokens }

    /// Parses a pointer such as `/a/0/b~1c`; nil if it is malformed.
    package init?(_ text: String) {
        tokens = []
        guard !text.utf8.isEmpty else { return }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        for piece in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let token = Self.unescaped(piece) else { return nil }
            tokens.append(token)
        }
    }

    private static func unescaped(_ piece: Substring.UTF8View) -> String? {
        guard piece.contains(UInt8(ascii: "~")) else { return String(Substring(piece)) }
        var bytes: [UInt8] = []
        var rest = piece
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "~") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
            default: return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    package var description: String {
        var bytes: [UInt8] = []
        for token in tokens {
            bytes.append(UInt8(ascii: "/"))
            for byte in token.utf8 {
                switch byte {
                case UInt8(ascii: "~"): bytes.append(contentsOf: "~0".utf8)
                case UInt8(ascii: "/"): bytes.append(contentsOf: "~1".utf8)
                default: bytes.append(byte)
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Equal tokens, by bytes.
    package static func == (left: JSONPointer, right: JSONPointer) -> Bool {
        left.tokens.count == right.tokens.count
            && zip(left.tokens, right.tokens).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    package func hash(into hasher: inout Hasher) {
        for token in tokens { token.hashBytes(into: &hasher) }
    }

    /// The index that a token stands for in an array of `count` elements; nil if there is none, as for `-`.
    static func index(_ token: String, count: Int) -> Int? {
        let digits = token.utf8
        guard let first = digits.first, digits.count == 1 || first != UInt8(ascii: "0"),
            digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }), let index = Int(token), index < count
        else { return nil }
        return index
    }
}

extension JSONValue {
    /// The value at a pointer; nil if there is none.
    package func value(at pointer: JSONPointer) -> JSONValue? {
        var value = self
        for token in pointer.tokens {
            switch value {
            case .object(let members):
                guard let next = members[token] else { return nil }
                value = next
            case .array(let elements):
                guard let index = JSONPointer.index(token, count: elements.count) else { return nil }
                value = elements[index]
            case .null, .bool, .number, .string:
                return nil
            }
        }
        return value
    }
}
