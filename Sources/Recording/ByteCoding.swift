internal import Primitives

/// The rule that the content of a frame violates. The reader of the file adds the position.
struct ContentViolation: Error {
    let rule: String

    init(_ rule: String) { self.rule = rule }
}

/// Reads numbers and texts from bytes; a violation is thrown, whatever the bytes are.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    private static var truncated: ContentViolation { ContentViolation("the content ends too early") }

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether all bytes have been read.
    var isAtEnd: Bool { rest.isEmpty }

    /// The number of bytes that have not been read.
    var count: Int { rest.count }

    mutating func byte() throws(ContentViolation) -> UInt8 {
        guard let byte = rest.popFirst() else { throw Self.truncated }
        return byte
    }

    /// A number, as a `Varint`.
    mutating func number() throws(ContentViolation) -> UInt64 {
        var index = rest.startIndex
        do throws(Varint.Failure) {
            let value = try Varint.read(rest, at: &index)
            rest = rest[index...]
            return value
        } catch {
            throw error == .truncated ? Self.truncated : ContentViolation("a number exceeds 64 bits")
        }
    }

    /// A number up to a bound, which names what the number counts.
    mutating func number(upTo bound: Int, _ what: String) throws(ContentViolation) -> Int {
        let value = try number()
        guard value <= UInt64(bound) else { throw ContentViolation("\(what) exceeds \(bound)") }
        return Int(value)
    }

    mutating func bytes(_ count: Int) throws(ContentViolation) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw Self.truncated }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// A text: its length in bytes, then UTF-8.
    mutating func text() throws(ContentViolation) -> String {
        let length = try number(upTo: rest.count, "the length of a text")
        guard let text = String(validating: try bytes(length), as: UTF8.self) else {
            throw ContentViolation("a text is not UTF-8")
        }
        return text
    }
}

extension [UInt8] {
    /// Appends a number as `ByteReader.number` reads it.
    mutating func append(number: UInt64) { Varint.append(number, to: &self) }

    /// Appends a number that is not negative.
    mutating func append(number: Int) { append(number: UInt64(number)) }

    /// Appends a text as `ByteReader.text` reads it.
    mutating func append(text: String) {
        append(number: text.utf8.count)
        append(contentsOf: text.utf8)
    }
}
