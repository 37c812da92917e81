internal import SessionCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Divides the work of a driver, so that one session does not keep others on its thread from theirs: lines that may take
/// long are handled one at a time, and after a turn the driver pauses.
enum DriverPace {
    /// The longest work without a pause, except for a single line.
    static let turn = Duration.milliseconds(5)
    /// The same in nanoseconds: the conversion of a `Duration` is a division of 128 bits.
    static let turnNanoseconds = turn.clampedNanoseconds
    /// How long others go first then.
    static let pause = Duration.milliseconds(1)
    /// The most lines, and about the most bytes, that are handled at once.
    static let longestSlice = (lines: 64, bytes: 64 * 1024)

    /// The number of lines to handle at once: a line with a diff alone, since its work is that of the value it changes.
    static func slice(of lines: ArraySlice<ArraySlice<UInt8>>) -> Int {
        var (count, bytes) = (0, 0)
        for line in lines {
            if hasDiff(line) { return max(1, count) }
            count += 1
            bytes += line.count
            if count >= longestSlice.lines || bytes >= longestSlice.bytes { break }
        }
        return count
    }

    /// Whether a line may hold a diff: `^P` or `^T`.
    private static func hasDiff(_ line: ArraySlice<UInt8>) -> Bool {
        line.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let start = rest.firstIndex(ofByte: UInt8(ascii: "^")) {
                rest = rest[(start + 1)...]
                if let mark = rest.first, mark == UInt8(ascii: "P") || mark == UInt8(ascii: "T") { return true }
            }
            return false
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// The index of the first of these bytes; nil if there is none.
    fileprivate func firstIndex(ofByte byte: UInt8) -> Int? {
        guard !isEmpty, let start = base.baseAddress else { return nil }
        guard let found = memchr(start + startIndex, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(found) - start
    }
}
