/// Cuts chunks of bytes into lines at CR-LF, and at CR-LF only; a lone CR or LF is part of its line.
///
/// Lines that lie within one chunk are slices of it and are not copied.
package struct LineSplitter: Sendable {
    /// The greatest number of bytes of a line, CR-LF not counted.
    package let maxLineLength: Int
    /// The start of a line whose end has not come yet.
    private var carry: [UInt8] = []

    /// A splitter; by default lines may have 16 MiB.
    package init(maxLineLength: Int = 16 << 20) { self.maxLineLength = maxLineLength }

    /// Whether part of a line waits for its end.
    package var hasPartialLine: Bool { !carry.isEmpty }

    /// Takes a chunk and returns the lines that it completes, without their CR-LF, empty ones included.
    ///
    /// After an error the splitter has forgotten everything it held.
    package mutating func feed(_ chunk: ArraySlice<UInt8>) throws(TLCPError) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = chunk
        if !carry.isEmpty {
            guard let line = try completeCarry(&rest) else { return lines }
            lines.append(line)
        }
        while let end = Self.lineEnd(in: rest) {
            lines.append(try checked(rest[..<end]))
            rest = rest[(end + 2)...]
        }
        carry = Array(try checked(rest, isPartial: true))
        return lines
    }

    /// Takes a chunk and returns the lines that it completes.
    package mutating func feed(_ chunk: [UInt8]) throws(TLCPError) -> [ArraySlice<UInt8>] { try feed(chunk[...]) }

    /// Ends a WebSocket message, the end of which ends a line; nil if nothing was left.
    package mutating func endMessage() -> ArraySlice<UInt8>? {
        if carry.isEmpty { return nil }
        defer { carry = [] }
        return carry[...]
    }

    /// Forgets the part of a line that waits, as at the end of an HTTP response.
    package mutating func reset() { carry = [] }

    /// Moves bytes of the chunk to the waiting line until it ends; nil if the chunk does not end it.
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
        // A partial line may hold the CR of its end.
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

    /// Skips words of eight bytes that hold no CR, as nearly all do; the result is within the bytes.
    private static func skipWords(withoutCR bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index + 8 < bytes.count {
            // A byte that is CR becomes zero, and a zero byte borrows into its own top bit.
            let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ (ones &* 0x0D)
            if (word &- ones) & ~word & (ones << 7) != 0 { return index }
            index += 8
        }
        return index
    }
}
