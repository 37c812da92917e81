import Replication
import Testing

@testable import EngineNATS

struct RequestTableTests {
    private static func frame(_ position: UInt64) -> NATSReply {
        NATSReply(bytes: [UInt8(position)], sequence: position, failure: nil)
    }

    private static let missing = NATSReply(bytes: [], sequence: nil, failure: .missing)

    private static func positions(_ completed: RequestTable.Completed?) throws -> [UInt64?]? {
        try completed?.result.get().map(\.sequence)
    }

    @Test
    func allMessagesCompleteARequest() throws {
        var table = RequestTable()
        let token = table.add(.messages(2))
        #expect(try Self.positions(table.arrived(Self.frame(1), for: token)) == nil)
        let completed = table.arrived(Self.frame(2), for: token)
        #expect(try Self.positions(completed) == [1, 2])
        #expect(!table.awaits(token))
    }

    @Test
    func tokensCannotBeGuessed() {
        var table = RequestTable()
        let tokens = (0..<16).map { _ in table.add(.messages(1)) }
        #expect(Set(tokens).count == tokens.count)
        #expect(tokens.contains { $0 > 1 << 32 })
        #expect(tokens != tokens.sorted())
    }

    @Test
    func messagesThatArriveInTimeAreNotLost() throws {
        var table = RequestTable()
        let token = table.add(.messages(3))
        _ = table.arrived(Self.frame(1), for: token)
        _ = table.arrived(Self.frame(2), for: token)
        #expect(try Self.positions(table.timedOut(token)) == [1, 2])
        #expect(try Self.positions(table.arrived(Self.frame(3), for: token)) == nil)
    }

    @Test
    func messagesBeforeAMissingOneAreNotLost() throws {
        var table = RequestTable()
        let token = table.add(.messages(3))
        _ = table.arrived(Self.frame(1), for: token)
        #expect(try Self.positions(table.arrived(Self.missing, for: token)) == [1])
    }

    @Test
    func requestWithoutAnyMessageFails() throws {
        var table = RequestTable()
        let token = table.add(.messages(3))
        #expect(throws: EngineError.missing) { try Self.positions(table.arrived(Self.missing, for: token)) }
        let other = table.add(.messages(1))
        #expect(throws: EngineError.timeout) { try Self.positions(table.timedOut(other)) }
    }

    @Test
    func requestWhoseTimeIsOverBeforeItsTaskRunsDoesNotWait() async throws {
        var table = RequestTable()
        let token = table.add(.messages(1))
        _ = table.timedOut(token)
        let replies = try await withCheckedThrowingContinuation { continuation in
            if !table.wait(for: token, continuation) { continuation.resume(returning: []) }
        }
        #expect(replies.isEmpty)
    }

    @Test
    func replyOfSeveralPiecesIsJoined() throws {
        var table = RequestTable()
        let token = table.add(.pieces)
        let bytes = [UInt8](repeating: 7, count: 1_200_000)
        let pieces = ReplyPiece.messages(of: bytes, reply: 5)
        #expect(pieces.count == 3)
        var completed: RequestTable.Completed?
        for piece in pieces {
            completed = table.arrived(NATSReply(bytes: piece, sequence: nil, failure: nil), for: token)
        }
        #expect(try completed?.result.get().first?.bytes == bytes)
    }
}
