import Replication
import Synchronization
import Testing

@Suite struct LocalEngineTests {
    /// The messages of a connection, as text.
    private final class Inbox: Sendable {
        let texts = Mutex<[String]>([])

        func take(_ input: EngineInput) {
            let text =
                switch input {
                case .frame(let frame): "frame \(frame.position) \(frame.bytes)"
                case .broadcast(let bytes): "broadcast \(bytes)"
                case .groupRequest, .call: "request"
                case .refused(let reason), .notStored(let reason): reason
                case .closed: "closed"
                }
            texts.withLock { $0.append(text) }
        }
    }

    @Test func framesAreReceivedInOrderUntilTheLogIsClosed() async throws {
        let inbox = Inbox()
        let connection = try await LocalEngine().connect(inbox.take)
        let before = try await connection.inspectLog()
        connection.append([7], again: false)
        connection.broadcast([9])
        connection.append([8], again: false)
        let after = try await connection.inspectLog()
        #expect((before.last, after.last, after.created) == (0, 2, before.created))
        // Nothing is kept.
        #expect(after.first == 3)
        await #expect(throws: EngineError.missing) { try await connection.fetch(1...2) }
        connection.close()
        connection.close()
        connection.append([6], again: false)
        connection.broadcast([5])
        await #expect(throws: EngineError.self) { try await connection.inspectLog() }
        #expect(inbox.texts.withLock { $0 } == ["frame 1 [7]", "broadcast [9]", "frame 2 [8]", "closed"])
    }

    @Test func eachConnectionHasALogOfItsOwn() async throws {
        let inbox = Inbox()
        let (first, second) = (try await LocalEngine().connect(inbox.take), try await LocalEngine().connect(inbox.take))
        #expect(try await first.inspectLog().created != second.inspectLog().created)
        await #expect(throws: EngineError.noResponder) { try await first.requestFromGroup([], within: .seconds(1)) }
        await #expect(throws: EngineError.noResponder) {
            try await first.call(1, [], within: .seconds(1)) { Issue.record("sent") }
        }
    }
}
