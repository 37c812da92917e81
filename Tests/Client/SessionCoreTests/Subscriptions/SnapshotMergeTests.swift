internal import SessionCore
internal import TestSupport
internal import Testing

/// Readers that move from one subscription to an equal one.
@Suite struct SnapshotMergeTests {
    /// A reader with the values that these lines make, and a new subscription without any.
    private struct Move: ~Copyable {
        var table: ValueTable
        var merge: SnapshotMerge
        var fixture: StoreFixture

        init(_ properties: SubscriptionProperties, _ lines: [String]) throws {
            var former = StoreFixture.added(properties)
            var table = ValueTable(properties: properties)
            for line in lines {
                for case .notify(_, let event) in try former.receive(line) { table.apply(event) }
            }
            self.table = table
            merge = SnapshotMerge(into: table)
            fixture = StoreFixture.added(properties)
        }

        /// The events that the reader gets for a line of the new subscription, in words.
        mutating func receive(_ lines: String...) throws -> [String] {
            var words: [String] = []
            for line in lines {
                for case .notify(_, let event) in try fixture.receive(line) {
                    for event in merge.take(event) {
                        table.apply(event)
                        words.append(Self.word(event))
                    }
                }
            }
            return words
        }

        private static func word(_ event: SubscriptionEvent) -> String {
            guard case .update(let update) = event else { return "\(event)".prefix { $0 != "(" }.description }
            let values = update.values.map { $0 ?? "-" }.joined(separator: ",")
            return "\(update.isSnapshot ? "snapshot " : "")\(update.itemPos) \(values) \(update.changed.positions)"
        }
    }

    private static let start = "SUBOK,1,2,2"
    private static let commandStart = "SUBCMD,1,2,4,3,4"

    @Test func rowThatIsKnownTellsNothing() throws {
        var move = try Move(.merge(), [Self.start, "U,1,1,a|b", "U,1,2,x|y"])
        #expect(try move.receive(Self.start, "CONF,1,3,filtered", "U,1,1,a|b", "U,1,2,x|y") == ["realMaxFrequency"])
        #expect(move.merge.isOver)
        #expect(try move.receive("U,1,1,|c") == ["1 a,c [2]"])
    }

    @Test func rowThatHasChangedTellsItsChangesAsAnUpdate() throws {
        var move = try Move(.merge(), [Self.start, "U,1,1,a|b"])
        #expect(try move.receive(Self.start, "U,1,1,a|c") == ["1 a,c [2]"])
        // The reader has no row of the second item: this one is its snapshot.
        #expect(try move.receive("U,1,2,x|y") == ["snapshot 2 x,y [1, 2]"])
        #expect(move.table.row(item: 1) == ["a", "c"])
    }

    @Test func keysAreComparedAndThoseThatAreGoneAreDeleted() throws {
        let rows = ["U,1,1,a|b|k1|ADD", "U,1,1,c|d|k2|ADD", "U,1,1,e|f|k3|ADD", "EOS,1,1"]
        var move = try Move(.command(), [Self.commandStart] + rows)
        #expect(try move.receive(Self.commandStart, "U,1,1,a|b|k1|ADD") == [])
        #expect(try move.receive("U,1,1,c|D|k2|ADD") == ["1 c,D,k2,UPDATE [2, 4]"])
        #expect(try move.receive("U,1,1,g|h|k4|ADD") == ["1 g,h,k4,ADD [1, 2, 3, 4]"])
        #expect(try move.receive("EOS,1,1") == ["1 -,-,k3,DELETE [1, 2, 4]"])
        #expect(move.table.keys(item: 1) == ["k1", "k2", "k4"])
        #expect(try move.receive("U,1,1,||k1|DELETE") == ["1 -,-,k1,DELETE [1, 2, 4]"])
    }

    @Test func emptySnapshotDeletesAllKeys() throws {
        var move = try Move(.command(), [Self.commandStart, "U,1,1,a|b|k1|ADD", "EOS,1,1"])
        #expect(try move.receive(Self.commandStart, "EOS,1,1") == ["1 -,-,k1,DELETE [1, 2, 4]"])
    }

    @Test func endOfASnapshotThatTheReaderHasNotSeenIsPassedOn() throws {
        var move = try Move(.command(), [Self.commandStart, "U,1,1,a|b|k1|ADD"])
        let words = try move.receive(Self.commandStart, "U,1,1,a|b|k1|ADD", "U,1,1,c|d|k2|ADD", "EOS,1,1")
        #expect(words == ["snapshot 1 c,d,k2,ADD [1, 2, 3, 4]", "endOfSnapshot"])
    }

    @Test func listGoesOnAfterItsLastKnownRow() throws {
        let rows = ["U,1,1,a|1", "U,1,1,b|2", "EOS,1,1"]
        var move = try Move(.plain(.distinct), [Self.start] + rows)
        #expect(try move.receive(Self.start, "U,1,1,a|1", "U,1,1,b|2", "U,1,1,c|3", "U,1,1,d|4") == [])
        #expect(try move.receive("EOS,1,1") == ["1 c,3 [1, 2]", "1 d,4 [1, 2]"])
        #expect(try move.receive("U,1,1,e|5") == ["1 e,5 [1, 2]"])
    }

    @Test func listWithoutAKnownRowIsPassedOnWhole() throws {
        var move = try Move(.plain(.distinct), [Self.start, "U,1,1,a|1", "EOS,1,1"])
        #expect(try move.receive(Self.start, "U,1,1,x|8", "U,1,1,y|9", "EOS,1,1") == ["1 x,8 [1, 2]", "1 y,9 [1, 2]"])
    }

    @Test func flowIsPassedOn() throws {
        var move = try Move(.plain(.raw), [Self.start, "U,1,1,a|1"])
        #expect(try move.receive(Self.start, "U,1,1,b|2", "OV,1,1,7") == ["1 b,2 [1, 2]", "lostUpdates"])
    }

    @Test func snapshotThatIsClearedIsClearedForTheReader() throws {
        var move = try Move(.command(), [Self.commandStart, "U,1,1,a|b|k1|ADD", "EOS,1,1"])
        #expect(try move.receive(Self.commandStart, "CS,1,1") == ["clearSnapshot"])
        #expect(move.table.keys(item: 1) == [])
        #expect(try move.receive("U,1,1,a|b|k1|ADD").count == 1)
    }

    @Test func otherCountsBeginAnew() throws {
        var move = try Move(
            SubscriptionProperties(mode: .merge, items: .group("g"), fields: .group("s")),
            [Self.start, "U,1,1,a|b"]
        )
        #expect(
            try move.receive("SUBOK,1,3,2", "U,1,1,a|b") == ["unsubscribed", "subscribed", "snapshot 1 a,b [1, 2]"]
        )
        #expect(move.merge.isOver)
    }

    @Test func refusalIsPassedOn() throws {
        var move = try Move(.merge(), [Self.start, "U,1,1,a|b"])
        #expect(try move.receive("UNSUB,1").count == 1)
        #expect(move.merge.isOver)
    }

    @Test func secondLevelsCannotMove() {
        #expect(SnapshotMerge.isPossible(for: .merge()))
        #expect(!SnapshotMerge.isPossible(for: .twoLevel()))
    }

    @Test func readerHasTheRowsOfTheNewSubscriptionAfterAnySnapshot() throws {
        for seed in UInt64(1)...200 {
            var random = SeededGenerator(seed: seed)
            let rows = { (random: inout SeededGenerator) -> [String] in
                (1...6).filter { _ in Bool.random(using: &random) }.map { key in
                    "U,1,1,\(Int.random(in: 1...2, using: &random))|\(Int.random(in: 1...2, using: &random))|k\(key)|ADD"
                }
            }
            let before = rows(&random)
            let after = rows(&random)
            var move = try Move(.command(), [Self.commandStart] + before + ["EOS,1,1"])
            let expected = try Move(.command(), [Self.commandStart] + after + ["EOS,1,1"]).table
            for line in [Self.commandStart] + after + ["EOS,1,1"] { _ = try move.receive(line) }
            #expect(Set(move.table.keys(item: 1)) == Set(expected.keys(item: 1)), "seed \(seed)")
            for key in expected.keys(item: 1) {
                let row = move.table.row(item: 1, key: key)?.dropLast()
                #expect(row == expected.row(item: 1, key: key)?.dropLast(), "seed \(seed)")
            }
        }
    }
}
