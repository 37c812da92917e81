/// Splits chunks of bytes into lines at CR-LF; a lone CR or LF is part of its line.
///
/// Lines that lie within one chunk are slices of it and are not copied.
package struct LineSplitter: Sendable {
    /// The maximum length of a line in bytes, without its CR-LF.
    package let maxLineLength: Int
    /// The incomplete line at the end of the previous chunks.
    package private(set) var carry: [UInt8] = []

    /// A splitter. The default maximum is 16 MiB.
    package init(maxLineLength: Int = 16 << 20) { self.maxLineLength = maxLineLength }

    /// Appends the lines that a chunk completes, without their CR-LF, empty lines included.
    ///
    /// Throws `lineTooLong`, and discards the incomplete line.
    package mutating func feed(_ chunk: ArraySlice<UInt8>, into lines: inout [ArraySlice<UInt8>]) throws(TLCPError) {
        var rest = chunk
        if !carry.isEmpty {
            guard let line = try completeCarry(&rest) else { return }
            lines.append(line)
        }
        while let end = Self.lineEnd(in: rest) {
            try check(end - rest.startIndex)
            lines.append(rest[..<end])
            rest = rest[(end + 2)...]
        }
        try check(rest.count - (rest.last == UInt8(ascii: "\r") ? 1 : 0))
        carry = Array(rest)
    }

    /// Returns the lines that a chunk completes.
    package mutating func feed(_ chunk: ArraySlice<UInt8>) throws(TLCPError) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        try feed(chunk, into: &lines)
        return lines
    }

    /// Returns the lines that a chunk completes.
    package mutating func feed(_ chunk: [UInt8]) throws(TLCPError) -> [ArraySlice<UInt8>] { try feed(chunk[...]) }

    /// Returns the incomplete line at the end of a WebSocket message, which ends a line; nil if there is none.
    package mutating func endMessage() -> ArraySlice<UInt8>? {
        if carry.isEmpty { return nil }
        defer { carry = [] }
        return carry[...]
    }

    /// Appends bytes of the chunk to the incomplete line up to its end; nil if the chunk does not contain the end.
    private mutating func completeCarry(_ rest: inout ArraySlice<UInt8>) throws(TLCPError) -> ArraySlice<UInt8>? {
        if carry.last == UInt8(ascii: "\r"), rest.first == UInt8(ascii: "\n") {
            carry.removeLast()
            rest.removeFirst()
        } else if let end = Self.lineEnd(in: rest) {
            carry.append(contentsOf: rest[..<end])
            rest = rest[(end + 2)...]
        } else {
            carry.append(contentsOf: rest)
            try check(carry.count - (carry.last == UInt8(ascii: "\r") ? 1 : 0))
            return nil
        }
        defer { carry = [] }
        try check(carry.count)
        return carry[...]
    }

    /// Throws if a line is too long, and discards the incomplete one. The CR at the end of an incomplete line does not
    /// count: it may belong to its CR-LF.
    private mutating func check(_ length: Int) throws(TLCPError) {
        guard length > maxLineLength else { return }
        carry = []
        throw .lineTooLong(limit: maxLineLength)
    }

    private static func lineEnd(in bytes: ArraySlice<UInt8>) -> Int? {
        let offset = bytes.withUnsafeBytes { bytes -> Int? in
            let ones: UInt64 = 0x0101_0101_0101_0101
            var index = 0
            while index + 1 < bytes.count {
                if index + 8 < bytes.count {
                    // Skips eight bytes without a CR. XOR makes each CR a zero byte; the subtraction then borrows into the
                    // top bit of that byte.
                    let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ (ones &* 0x0D)
                    if (word &- ones) & ~word & (ones << 7) == 0 {
                        index += 8
                        continue
                    }
                }
                if bytes[index] == UInt8(ascii: "\r"), bytes[index + 1] == UInt8(ascii: "\n") { return index }
                index += 1
            }
            return nil
        }
        guard let offset else { return nil }
        return bytes.startIndex + offset
    }
}
