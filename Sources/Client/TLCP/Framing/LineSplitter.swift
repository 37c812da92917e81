/// Splits chunks of bytes into lines at CR-LF; a lone CR or LF is part of its line.
///
/// Lines that lie within one chunk are slices of it and are not copied.
package struct LineSplitter: Sendable {
    /// The maximum length of a line in bytes, without its CR-LF.
    package let maxLineLength: Int
    /// The incomplete line at the end of the previous chunks.
    private var carry: [UInt8] = []

    /// A splitter. The default maximum is 16 MiB.
    package init(maxLineLength: Int = 16 << 20) { self.maxLineLength = maxLineLength }

    /// Appends the lines that a chunk completes, without their CR-LF, empty lines included.
    ///
    /// Throws `lineTooLong`, and discards the incomplete line.
    package mutating func feed(
        _ chunk: ArraySlice<UInt8>,
        into lines: inout [ArraySlice<UInt8>]
    ) throws(TLCPError) {
        var rest = chunk
        if !carry.isEmpty {
            guard let line = try completeCarry(&rest) else { return }
            lines.append(line)
        }
        while let end = Self.lineEnd(in: rest) {
            lines.append(try checked(rest[..<end]))
            rest = rest[(end + 2)...]
        }
        carry = Array(try checked(rest, isPartial: true))
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
            _ = try checked(carry[...], isPartial: true)
            return nil
        }
        defer { carry = [] }
        return try checked(carry[...])
    }

    private mutating func checked(
        _ line: ArraySlice<UInt8>,
        isPartial: Bool = false
    ) throws(TLCPError) -> ArraySlice<UInt8> {
        // An incomplete line may end with the CR of its CR-LF.
        if line.count - (isPartial && line.last == UInt8(ascii: "\r") ? 1 : 0) > maxLineLength {
            carry = []
            throw .lineTooLong(limit: maxLineLength)
        }
        return line
    }

    /// The index of the first CR-LF.
    private static func lineEnd(in bytes: ArraySlice<UInt8>) -> Int? {
        let offset = bytes.withUnsafeBufferPointer { bytes -> Int? in
            var index = 0
            while index + 1 < bytes.count {
                index = skipWords(withoutCR: bytes, from: index)
                if bytes[index] == UInt8(ascii: "\r"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\n") {
                    return index
                }
                index += 1
            }
            return nil
        }
        return offset.map { bytes.startIndex + $0 }
    }

    /// Skips words of eight bytes without a CR; the result is an index within the bytes.
    private static func skipWords(withoutCR bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index + 8 < bytes.count {
            // XOR makes each CR a zero byte; the subtraction then borrows into the top bit of that byte.
            let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ (ones &* 0x0D)
            if (word &- ones) & ~word & (ones << 7) != 0 { return index }
            index += 8
        }
        return index
    }
}
