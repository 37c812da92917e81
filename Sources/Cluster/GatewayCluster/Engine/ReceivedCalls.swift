/// The numbered messages of other processes that this process has received: each is accepted once.
///
/// A process numbers its messages to each other process from 1. The numbers may arrive in another order, within a window.
/// Times are compared with those of the same sender only, so that clocks may differ.
struct ReceivedCalls: Sendable {
    /// The identity of a message, which is authenticated with its content.
    struct Stamp: Sendable, Equatable {
        /// The sender of the message, and its receiver.
        let sender: UInt64
        let receiver: UInt64
        /// Counts the messages of the sender to the receiver, from 1.
        let number: UInt64
        /// When the message was sent, in milliseconds since 1970 by the clock of the sender; never decreases.
        let time: Int64
    }

    /// How far behind the greatest number of a sender a message may arrive.
    static let window: UInt64 = 1 << 16
    /// How much older than the newest message of its sender a message may be, in milliseconds.
    static let longestDelay: Int64 = 60_000
    /// Of how many senders the numbers of the window are kept, those that have sent last. Of any other, only the greatest number
    /// is kept, and messages up to it are not accepted.
    static let windows = 256

    private struct Sender {
        var greatest: UInt64 = 0
        var newest: Int64?
        /// One bit for each number of the window; empty: all numbers up to the greatest one count as seen.
        var seen: [UInt64] = []
        /// The place of its last message in the order of all that were accepted.
        var order = 0

        mutating func accept(_ stamp: Stamp) -> Bool {
            if let newest, stamp.time < newest - ReceivedCalls.longestDelay { return false }
            guard stamp.number > 0 else { return false }
            if stamp.number > greatest {
                if seen.isEmpty { seen = [UInt64](repeating: .max, count: Int(ReceivedCalls.window / 64)) }
                forget(from: greatest, to: stamp.number)
                greatest = stamp.number
            } else if seen.isEmpty || greatest - stamp.number >= ReceivedCalls.window || isSeen(stamp.number) {
                return false
            }
            newest = max(newest ?? stamp.time, stamp.time)
            seen[place(stamp.number)] |= bit(stamp.number)
            return true
        }

        /// The numbers after `last` up to `next` take the places of numbers that leave the window.
        private mutating func forget(from last: UInt64, to next: UInt64) {
            if next - last >= ReceivedCalls.window {
                seen = [UInt64](repeating: 0, count: seen.count)
            } else {
                for number in last + 1...next { seen[place(number)] &= ~bit(number) }
            }
        }

        private func isSeen(_ number: UInt64) -> Bool { seen[place(number)] & bit(number) != 0 }

        private func place(_ number: UInt64) -> Int { Int(number % ReceivedCalls.window / 64) }

        private func bit(_ number: UInt64) -> UInt64 { 1 << (number % 64) }
    }

    private var senders: [UInt64: Sender] = [:]
    private var accepted = 0

    /// Whether a message is received for the first time, and not too late.
    mutating func accept(_ stamp: Stamp) -> Bool {
        let isNew = senders[stamp.sender]?.seen.isEmpty ?? true
        guard senders[stamp.sender, default: Sender()].accept(stamp) else { return false }
        accepted += 1
        senders[stamp.sender]?.order = accepted
        guard isNew else { return true }
        let orders = senders.compactMapValues { $0.seen.isEmpty ? nil : $0.order }
        if orders.count > Self.windows, let oldest = orders.min(by: { $0.value < $1.value })?.key {
            senders[oldest]?.seen = []
        }
        return true
    }
}

/// The marks of the requests to all members that this process has received: each request is accepted once.
struct ReceivedRequests: Sendable {
    /// How many marks are kept, the newest.
    static let limit = 4096

    private var marks: Set<UInt64> = []
    /// The marks in the order of their arrival, in a circle that begins at `oldest` once it is full.
    private var order: [UInt64] = []
    private var oldest = 0

    /// Whether a request is received for the first time, or for the first time in a long while.
    mutating func accept(_ mark: UInt64) -> Bool {
        guard marks.insert(mark).inserted else { return false }
        if order.count < Self.limit {
            order.append(mark)
        } else {
            marks.remove(order[oldest])
            order[oldest] = mark
            oldest = (oldest + 1) % Self.limit
        }
        return true
    }
}
