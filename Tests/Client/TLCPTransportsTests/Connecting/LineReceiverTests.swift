internal import NIOCore
internal import Synchronization
internal import TLCP
internal import Testing

@testable import TLCPTransports

/// The incomplete lines of several connections share a budget.
@Suite struct LineReceiverTests {
    private final class Budget: Sendable {
        let used = Atomic(0)

        func add(_ change: Int) -> Bool { used.wrappingAdd(change, ordering: .relaxed).newValue <= 3 << 20 }
    }

    private static let part = ByteBuffer(repeating: UInt8(ascii: "x"), count: 600 << 10)
    private let budget = Budget()

    private var used: Int { budget.used.load(ordering: .relaxed) }

    private func makeReceiver() -> LineReceiver {
        LineReceiver(maxLineLength: 64 << 20, window: 1 << 20, budget: { [budget] in budget.add($0) }) { _ in }
    }

    @Test(arguments: [false, true]) func aLongLineCountsUntilItIsComplete(inMessages: Bool) throws {
        let receiver = makeReceiver()
        try receiver.receive(Self.part)
        #expect(used == 0)
        try receiver.receive(Self.part)
        #expect(used == 1200 << 10)
        try receiver.receive(ByteBuffer(string: inMessages ? "y" : "\r\n"), endsMessage: inMessages)
        #expect(used == 0)
    }

    @Test func anIncompleteFrameCounts() throws {
        let receiver = makeReceiver()
        for _ in 0..<4 { try receiver.receiveIncomplete(byteCount: 600 << 10) }
        #expect(used == 2400 << 10)
        try receiver.receive(ByteBuffer(repeating: UInt8(ascii: "x"), count: 2400 << 10), endsMessage: true)
        #expect(used == 0)
    }

    @Test func linesBeyondTheBudgetAreRefused() throws {
        var first: LineReceiver? = makeReceiver()
        let second = makeReceiver()
        for _ in 0..<4 { try first?.receive(Self.part) }
        try second.receive(Self.part)
        #expect(throws: TLCPError.lineTooLong(limit: 1200 << 10)) { try second.receive(Self.part) }
        first = nil
        #expect(used == 1200 << 10)
        let third = makeReceiver()
        try third.receiveIncomplete(byteCount: 1200 << 10)
        #expect(throws: TLCPError.self) { try third.receiveIncomplete(byteCount: 1200 << 10) }
    }
}
