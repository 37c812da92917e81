import Primitives
import Testing

@testable import Replication

/// The shared subscriptions with local readers.
struct LocalReadersTests {
    private static let start = Moment(nanoseconds: 1_000_000_000)

    @Test func aSubscriptionIsNewOnceHoweverOftenReadersComeBeforeTheLogHasIt() {
        var readers = LocalReaders()
        for _ in 0..<3 {
            _ = readers.added("b", SimulatedNode.key("b"), isOver: false)
            readers.removed("b", at: Self.start)
        }
        _ = readers.added("a", SimulatedNode.key("a"), isOver: false)
        #expect(readers.new.count == 2)
        let records = readers.declareNew()
        #expect(records == ["a", "b"].map { .addInterest(id: $0, SimulatedNode.key($0)) })
        #expect(readers.new.isEmpty && readers.declareNew().isEmpty)
    }

    @Test func theLogAndTheMemberForgetIdleSubscriptions() {
        var readers = LocalReaders()
        for id in ["known", "read", "undeclared"] {
            _ = readers.added(id, SimulatedNode.key(id), isOver: false)
            if id == "known" { _ = readers.declareNew() }
        }
        readers.interestAdded("known")
        for id in ["known", "undeclared"] { readers.removed(id, at: Self.start) }
        let early = readers.dropIdle(after: .seconds(5), at: Self.start + .seconds(4))
        #expect(early.records.isEmpty && early.undeclared.isEmpty)
        let idle = readers.dropIdle(after: .seconds(5), at: Self.start + .seconds(5))
        #expect(idle.records == [.removeInterest(id: "known")] && idle.undeclared == ["undeclared"])
        #expect(readers.ids == ["read"])
    }
}
