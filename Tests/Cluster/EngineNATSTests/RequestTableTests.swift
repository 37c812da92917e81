import CNATS
import Replication
import Testing

@testable import EngineNATS

struct RequestTableTests {
    private static func frame(_ position: UInt64) -> NATSReply {
        NATSReply(bytes: [UInt8(position)], position: position, failure: nil)
    }

    private static let missing = NATSReply(bytes: [], position: nil, failure: .missing)

    private static func positions(_ completed: RequestTable.Completed?) throws -> [UInt64?]? {
        try completed?.result.get().map(\.position)
    }

    @Test
    func allMessagesCompleteARequest() throws {
        var table = RequestTable(limit: 4 << 20)
        let token = table.add(.messages(2))
        #expect(try Self.positions(table.arrived(Self.frame(1), for: token)) == nil)
        let completed = table.arrived(Self.frame(2), for: token)
        #expect(try Self.positions(completed) == [1, 2])
        #expect(!table.awaits(token))
    }

    @Test
    func tokensCannotBeGuessed() {
        var table = RequestTable(limit: 4 << 20)
        let tokens = (0..<16).map { _ in table.add(.messages(1)) }
        #expect(Set(tokens).count == tokens.count)
        #expect(tokens.contains { $0 > 1 << 32 })
        #expect(tokens != tokens.sorted())
    }

    @Test
    func messagesThatArriveInTimeAreNotLost() throws {
        var table = RequestTable(limit: 4 << 20)
        let token = table.add(.messages(3))
        _ = table.arrived(Self.frame(1), for: token)
        _ = table.arrived(Self.frame(2), for: token)
        #expect(try Self.positions(table.timedOut(token)) == [1, 2])
        #expect(try Self.positions(table.arrived(Self.frame(3), for: token)) == nil)
    }

    @Test
    func messagesBeforeAMissingOneAreNotLost() throws {
        var table = RequestTable(limit: 4 << 20)
        let token = table.add(.messages(3))
        _ = table.arrived(Self.frame(1), for: token)
        #expect(try Self.positions(table.arrived(Self.missing, for: token)) == [1])
    }

    @Test
    func requestWithoutAnyMessageFails() throws {
        var table = RequestTable(limit: 4 << 20)
        let token = table.add(.messages(3))
        #expect(throws: EngineError.missing) { try Self.positions(table.arrived(Self.missing, for: token)) }
        let other = table.add(.messages(1))
        #expect(throws: EngineError.timeout) { try Self.positions(table.timedOut(other)) }
    }

    @Test
    func requestWhoseTimeIsOverBeforeItsTaskRunsDoesNotWait() async throws {
        var table = RequestTable(limit: 4 << 20)
        let token = table.add(.messages(1))
        _ = table.timedOut(token)
        let replies = try await withCheckedThrowingContinuation { continuation in
            if !table.wait(for: token, continuation) { continuation.resume(returning: []) }
        }
        #expect(replies.isEmpty)
    }

    /// A client of NATS that appends to the log chooses the headers of its message. The server adds the position.
    @Test(arguments: [
        ["Status": "503", "Nats-Sequence": "7"], ["Status": "404", "Nats-Sequence": "9999"],
        ["Nats-Sequence": "-1"], [:],
    ])
    func headersOfAStoredFrameHaveNoEffect(headers: [String: String]) throws {
        let reply = try Self.reply(headers, position: 7)
        #expect(reply.position == 7 && reply.bytes == [1, 2] && reply.failure == nil)
    }

    @Test(arguments: [("404", EngineError.missing), ("408", .missing), ("503", .noResponder)])
    func replyWithoutAFrameTellsThatTheFrameIsMissing(status: String, failure: EngineError) throws {
        #expect(try Self.reply(["Status": status], position: 7).failure == failure)
        #expect(try Self.reply(["Status": status, "Nats-Sequence": "7"], position: nil).failure == failure)
    }

    private static func reply(_ headers: [String: String], position: UInt64?) throws -> NATSReply {
        // A message outside of a connection needs the library's own threads.
        try #require(nats_Open(-1) == NATS_OK)
        var message: OpaquePointer?
        let status = [UInt8]([1, 2]).withUnsafeBytes { natsMsg_Create(&message, "a", nil, $0.baseAddress, 2) }
        defer { natsMsg_Destroy(message) }
        #expect(status == NATS_OK)
        for (name, value) in headers { #expect(natsMsgHeader_Set(message, name, value) == NATS_OK) }
        return NATSReply(try #require(message), position: position)
    }

    @Test
    func nameOfAReplyHasTheToken() {
        for name in [ReplyName(token: 5, position: nil), ReplyName(token: .max, position: .max)] {
            #expect(ReplyName(name.text[...]) == name)
        }
        for text in ["", "frame", "x-1", "-1", "1-", "1-x", "1-2-3"] { #expect(ReplyName(text[...]) == nil) }
    }

    @Test
    func replyOfSeveralPiecesIsJoined() throws {
        var table = RequestTable(limit: 4 << 20)
        let token = table.add(.pieces)
        let bytes = [UInt8](repeating: 7, count: 1_200_000)
        let pieces = ReplyPiece.messages(of: bytes, reply: 5)
        #expect(pieces.count == 3)
        var completed: RequestTable.Completed?
        for piece in pieces {
            completed = table.arrived(NATSReply(bytes: piece, position: nil, failure: nil), for: token)
        }
        #expect(try completed?.result.get().first?.bytes == bytes)
    }

    private static func piece(_ index: Int, of count: Int, reply: UInt32) -> NATSReply {
        let pieces = ReplyPiece.messages(of: [UInt8](repeating: 7, count: count * 512 << 10), reply: reply)
        return NATSReply(bytes: pieces[index], position: nil, failure: nil)
    }

    /// Another client of NATS that sees a request can reply to it as well.
    @Test
    func piecesWithoutEndHaveALimit() throws {
        var table = RequestTable(limit: 4 << 20)
        let (flooded, other) = (table.add(.pieces), table.add(.pieces))
        let half = Self.piece(0, of: 2, reply: 1)
        #expect(try Self.positions(table.arrived(half, for: other)) == nil)
        let forged = Self.piece(0, of: 2, reply: 2)
        for number in 2..<100 {
            let bytes = [0, 0, 0, UInt8(number)] + forged.bytes.dropFirst(4)
            let reply = NATSReply(bytes: bytes, position: nil, failure: nil)
            #expect(try Self.positions(table.arrived(reply, for: flooded)) == nil)
            #expect(table.size <= 4 << 20)
        }
        // The other request keeps its pieces, and the flooded one is completed by a reply in one piece.
        #expect(try table.arrived(Self.piece(1, of: 2, reply: 1), for: other)?.result.get().count == 1)
        let whole = Self.piece(0, of: 1, reply: 500)
        #expect(try table.arrived(whole, for: flooded)?.result.get().first?.bytes.count == 512 << 10)
        #expect(table.size == 0)
    }
}
