/// The segments of a request's path: split at `/` first, then each decoded once, so that `a%2Fb` is one segment.
package struct RequestPath: Sendable, Equatable {
    /// The decoded segments; none for `/`.
    let segments: [String]

    /// Splits a raw path. Throws a 400 problem for a bad escape and for bytes that are not UTF-8.
    package init(raw: String) throws(Problem) {
        guard raw.utf8.first == UInt8(ascii: "/") else {
            throw Problem(.malformed, detail: "The path does not begin with a slash.")
        }
        var raw = raw
        let segments = raw.withUTF8 { $0.count == 1 ? [] : Self.segments(of: $0.dropFirst()) }
        guard let segments else {
            throw Problem(.malformed, detail: "The path has a bad escape, or bytes that are not UTF-8.")
        }
        self.segments = segments
    }

    private static func segments(of bytes: Slice<UnsafeBufferPointer<UInt8>>) -> [String]? {
        var segments: [String] = []
        segments.reserveCapacity(8)
        var rest = bytes
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            let text = UnsafeBufferPointer(rebasing: rest[..<end])
            guard let segment = PercentDecoding.decode(text, plusIsSpace: false) else { return nil }
            segments.append(segment)
            if end == rest.endIndex { return segments }
            rest = rest[(end + 1)...]
        }
    }
}

/// The values of the path parameters of a request, by name. They are few: searching them costs less than hashing.
package struct PathParameters: Sendable {
    /// The names, in the order of the path.
    private(set) var names: [String]
    /// Their values.
    private(set) var values: [String]

    /// Parameters from their names and values, in the order of the path.
    package init(names: [String] = [], values: [String] = []) {
        self.names = names
        self.values = values
    }

    /// The value of a name; nil if the path has no such parameter.
    package subscript(name: String) -> String? {
        guard let place = names.firstIndex(of: name) else { return nil }
        return values[place]
    }
}

/// Percent-decoding of URLs (RFC 3986 section 2.1), strict: text that cannot be decoded is rejected.
enum PercentDecoding {
    /// Decodes once. Nil for a `%` without two hex digits, and for bytes that are not UTF-8 afterwards.
    ///
    /// - Parameters:
    ///   - text: A part of a string between ASCII characters.
    ///   - plusIsSpace: Whether `+` stands for a space, as in form-encoded queries. In paths it stands for
    ///   itself.
    static func decode(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
        let space = plusIsSpace ? UInt8(ascii: "+") : UInt8(ascii: "%")
        // The text is UTF-8, since its string was.
        if !text.contains(UInt8(ascii: "%")), !text.contains(space) { return String(decoding: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var position = text.startIndex
        while position != text.endIndex {
            let byte = text[position]
            position = text.index(after: position)
            switch byte {
            case UInt8(ascii: "%"):
                guard position != text.endIndex, let high = hexDigit(text[position]) else { return nil }
                position = text.index(after: position)
                guard position != text.endIndex, let low = hexDigit(text[position]) else { return nil }
                position = text.index(after: position)
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                bytes.append(UInt8(ascii: " "))
            default:
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Encodes a path segment or query value: everything but unreserved characters.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
