internal import Primitives

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A queue with many writers and one reader, which takes all waiting elements at once.
///
/// The queue has no bound, since no element may be dropped. Its writers are bounded: transports stop reading when
/// their receive window is used up, messages are refused beyond `maxPendingMessages`, each timer and each connection
/// has at most one input waiting beside its lines; the rest are calls of the user.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var reader: CheckedContinuation<[Element], Never>?
    }

    private let state = RankedMutex(State(), rank: .mailbox)

    /// Adds an element and resumes a waiting reader.
    func put(_ element: Element) {
        let reader: CheckedContinuation<[Element], Never>? = state.withLock { state in
            guard let reader = state.reader else {
                state.waiting.append(element)
                return nil
            }
            state.reader = nil
            return reader
        }
        reader?.resume(returning: [element])
    }

    var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Takes all waiting elements in order; suspends while there are none. For one reader only.
    func take() async -> [Element] {
        await withCheckedContinuation { continuation in
            let waiting: [Element]? = state.withLock { state in
                if state.waiting.isEmpty {
                    state.reader = continuation
                    return nil
                }
                defer { state.waiting = [] }
                return state.waiting
            }
            if let waiting { continuation.resume(returning: waiting) }
        }
    }
}

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
        for line in lines.prefix(longestSlice.lines) {
            if hasDiff(line) { return max(1, count) }
            count += 1
            bytes += line.count
            if bytes >= longestSlice.bytes { break }
        }
        return count
    }

    /// Whether a line may hold a diff: `^P` or `^T`.
    private static func hasDiff(_ line: ArraySlice<UInt8>) -> Bool {
        line.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            var index = 0
            while let found = memchr(start + index, Int32(UInt8(ascii: "^")), bytes.count - index) {
                index = UnsafeRawPointer(found) - start + 1
                if index < bytes.count, "PT".utf8.contains(bytes[index]) { return true }
            }
            return false
        }
    }
}
