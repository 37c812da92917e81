internal import SessionCore
internal import Testing

/// The mirror of present values, fed by a subscription store.
struct ValueTableTests {
    private static func table(
        _ properties: SubscriptionProperties,
        recentRows: Int = 100,
        _ lines: String...
    ) throws -> ValueTable {
        var fixture = StoreFixture.added(properties)
        var table = ValueTable(properties: properties, recentRows: recentRows)
        for line in lines {
            let effects = try fixture.receive(line)
            for case .notify(_, let event) in effects { table.apply(event) }
            _ = fixture.send()
        }
        return table
    }

    // MARK: - Reading

    @Test func mergeHoldsTheLastRowOfEachItem() throws {
        let table = try Self.table(.merge(), "SUBOK,1,2,2", "U,1,1,a|b", "U,1,1,|c", "U,1,2,x|#")
        #expect(table.value(item: 1, field: 1) == "a")
        #expect(table.value(item: 1, field: 2) == "c")
        #expect(table.row(item: 2) == ["x", nil])
        #expect(table.position(ofItem: "i2") == 2)
        #expect(table.position(ofField: "f2") == 2)
        #expect(table.position(ofField: "nope") == nil)
        #expect([table.itemBound, table.fieldBound] == [2, 2])
    }

    @Test(arguments: [
        (SubscriptionMode.raw, ["U,1,1,a|b", "U,1,1,|c"]), (.distinct, ["U,1,1,a|b"]), (.merge, ["U,1,1,a|b"]),
        (.command, ["U,1,1,k1|ADD", "U,1,1,k2|ADD", "U,1,1,k1|DELETE"]),
        (.command, ["U,1,1,k1|ADD", "U,1,1,k2|ADD", "U,1,1,k1|UPDATE"]),
    ])
    func presentStateAndLastRowsMakeAnEqualTable(mode: SubscriptionMode, rows: [String]) throws {
        let fields = mode == .command ? ["key", "command"] : ["f1", "f2"]
        let properties = SubscriptionProperties(mode: mode, items: .list(["i1"]), fields: .list(fields))
        var fixture = StoreFixture.added(properties)
        var table = ValueTable(properties: properties, recentRows: 0)
        var copy = table
        let start = mode == .command ? "SUBCMD,1,1,2,1,2" : "SUBOK,1,1,2"
        for line in [start] + rows {
            for case .notify(_, let event) in try fixture.receive(line) {
                table.apply(event)
                if line == start { copy.apply(event) }
            }
        }
        for event in table.presentState() + table.lastRows() { copy.apply(event) }
        #expect(copy.row(item: 1) == table.row(item: 1) && copy.row(item: 1) != nil)
        #expect(copy.keys(item: 1) == table.keys(item: 1))
    }

    @Test func namesAreLookedUpByTheirBytes() {
        let names = ["\u{E9}", "e\u{301}"]
        let table = ValueTable(
            properties: SubscriptionProperties(mode: .merge, items: .list(names), fields: .list(names))
        )
        #expect(names.map { table.position(ofItem: $0) } == [1, 2])
        #expect(names.map { table.position(ofField: $0) } == [1, 2])
        let layout = SubscriptionLayout(itemNames: names, fieldNames: names, fieldCount: 2)
        #expect(names.map { layout.position(ofField: $0) } == [1, 2])
        #expect(layout != SubscriptionLayout(itemNames: names.reversed(), fieldNames: names, fieldCount: 2))
    }

    @Test func nothingOutOfBoundsTraps() throws {
        let table = try Self.table(.command(), "SUBCMD,1,2,4,3,4", "U,1,1,a|b|k|ADD")
        for position in [Int.min, -1, 0, 5, .max] {
            #expect(!FieldSet(all: 4).contains(position))
            #expect(table.value(item: position, field: 1) == nil)
            #expect(table.value(item: 1, field: position) == nil)
            #expect(table.value(item: 1, key: "k", field: position) == nil)
            var copy = table
            copy.apply(.clearSnapshot(itemPos: position))
        }
        #expect(table.value(item: 1, key: "other", field: 1) == nil)
    }

    @Test func commandHoldsRowsByKeyAndTheRawRow() throws {
        let table = try Self.table(
            .command(),
            "SUBCMD,1,2,4,3,4",
            "U,1,1,a|b|k2|ADD",
            "U,1,1,c||k1|ADD",
            "U,1,1,d||k2|ADD",
            "U,1,1,x||k1|DELETE"
        )
        #expect(table.keys(item: 1) == ["k2"])
        #expect(table.row(item: 1, key: "k2") == ["d", "b", "k2", "UPDATE"])
        #expect(table.row(item: 1, key: "k1") == nil)
        #expect(table.row(item: 1) == ["x", "b", "k1", "DELETE"], "as the server sent it")
        #expect([table.keyPosition, table.commandPosition] == [3, 4])
    }

    @Test func keysStandInTheOrderOfTheirArrival() throws {
        let table = try Self.table(
            .command(),
            "SUBCMD,1,2,4,3,4",
            "U,1,1,a|b|z|ADD",
            "U,1,1,a|b|m|ADD",
            "U,1,1,a|b|a|ADD",
            "U,1,1,||z|DELETE",
            "U,1,1,||m|UPDATE",
            "U,1,1,||z|ADD"
        )
        #expect(table.keys(item: 1) == ["m", "a", "z"])
    }

    @Test func secondLevelValuesFollowTheFirstLevel() throws {
        let table = try Self.table(
            .twoLevel(),
            "SUBCMD,1,2,4,3,4",
            "U,1,1,a|b|k|ADD",
            "SUBOK,2,1,2",
            "U,2,1,c|d"
        )
        #expect(table.row(item: 1, key: "k") == ["a", "b", "k", "UPDATE", "c", "d"])
        #expect(table.row(item: 1) == ["a", "b", "k", "ADD"])
        #expect(table.position(ofField: "f6") == 6)
        #expect(table.value(item: 1, field: 6) == "d")
        #expect(table.value(item: 1, key: "k", field: 5) == "c")
        #expect(table.fieldBound == 6)
    }

    /// `7` is no name of an item: each `ADD` of the key reports code 14.
    @Test func refusalOfAKeyIsKnownWhileAnItemHasTheKey() throws {
        let steps = [
            ("SUBCMD,1,2,4,3,4", 0), ("U,1,1,a|b|7|ADD", 1), ("U,1,2,a|b|7|ADD", 1), ("U,1,1,|||UPDATE", 1),
            ("U,1,1,|||DELETE", 1), ("U,1,1,|||DELETE", 1), ("U,1,1,||8|ADD", 2), ("CS,1,1", 1), ("CS,1,1", 1),
            ("U,1,2,|||DELETE", 0), ("U,1,1,||7|ADD", 1), ("CS,1,2", 1), ("CS,1,1", 0),
        ]
        var fixture = StoreFixture.added(.twoLevel())
        var table = ValueTable(properties: .twoLevel())
        for (line, refusals) in steps {
            let before = table
            table = ValueTable(properties: .twoLevel())
            table.takeValues(of: before)
            for case .notify(_, let event) in try fixture.receive(line) { table.apply(event) }
            #expect(table.secondLevelFailures.count == refusals, "\(line)")
        }
    }

    /// A look at all items for each key takes minutes.
    @Test(.timeLimit(.minutes(1))) func refusedKeysAreDeletedAmongManyItems() throws {
        let itemCount = 1 << 20
        let properties = SubscriptionProperties.twoLevel().with { $0.items = .group("g") }
        var fixture = StoreFixture.added(properties)
        var table = ValueTable(properties: properties)
        let deletions = (0..<1000).flatMap { ["U,1,1,a|b|\($0)|ADD", "U,1,1,a|b|\($0)|DELETE"] }
        let additions = (0..<1000).map { "U,1,1,a|b|\($0)|ADD" }
        for line in ["SUBCMD,1,\(itemCount),4,3,4", "EOS,1,\(itemCount)"] + deletions + additions {
            for case .notify(_, let event) in try fixture.receive(line) { table.apply(event) }
        }
        #expect(table.secondLevelFailures.count == 1000)
        table.apply(.clearSnapshot(itemPos: 1))
        #expect(table.secondLevelFailures == [])
    }

    @Test func endsClearEverything() throws {
        var table = try Self.table(.merge(), "SUBOK,1,2,2", "U,1,1,a|b", "CONF,1,3,filtered")
        #expect(table.isSubscribed)
        #expect(table.realMaxFrequency == .limited(3))
        table.apply(.unsubscribed(isFinal: false))
        #expect(!table.isSubscribed)
        #expect(table.value(item: 1, field: 1) == nil)
        #expect([table.itemCount, table.fieldCount] == [nil, nil])
        #expect(table.realMaxFrequency == nil)
        #expect(table.presentState() == [])
    }

    @Test func boundsOfGroupsAreKnownOnlyWhileSubscribed() throws {
        let properties = SubscriptionProperties(mode: .merge, items: .group("g"), fields: .group("s"))
        var table = ValueTable(properties: properties)
        #expect([table.itemBound, table.fieldBound] == [nil, nil])
        table.apply(.subscribed(itemCount: 3, fieldCount: 5, keyPosition: nil, commandPosition: nil))
        #expect([table.itemBound, table.fieldBound] == [3, 5])
    }

    @Test func changeTimeIsThatOfTheItemsLastUpdate() throws {
        var table = try Self.table(.merge(), "SUBOK,1,2,2", "U,1,1,a|b")
        guard case .update(let update)? = table.presentState().first else {
            Issue.record("no update")
            return
        }
        table.apply(.update(update), at: Moment(nanoseconds: 7))
        #expect(table.changedAt(item: 1) == Moment(nanoseconds: 7))
        #expect(table.changedAt(item: 2) == nil)
    }

    // MARK: - Late joiners

    @Test func lateJoinerOfMergeGetsOneSnapshotUpdateForEachItemWithData() throws {
        let table = try Self.table(.merge(), "SUBOK,1,2,2", "U,1,2,a|b", "U,1,2,|#")
        #expect(table.presentState().map(\.brief) == ["2* a|# {1 2}"])
    }

    @Test func lateJoinerOfDistinctGetsTheLastRows() throws {
        let table = try Self.table(
            .plain(.distinct),
            recentRows: 2,
            "SUBOK,1,2,2",
            "U,1,1,a|b",
            "U,1,1,c|",
            "U,1,1,d|",
            "EOS,1,1",
            "U,1,2,x|y"
        )
        #expect(table.presentState().map(\.brief) == ["1* c|b {1 2}", "1* d|b {1 2}", "eos 1", "2* x|y {1 2}"])
    }

    @Test func requestedSnapshotLengthBoundsTheRows() throws {
        for (snapshot, count) in [(RequestedSnapshot.length(1), 1), (.yes, 3), (.no, 1)] {
            let table = try Self.table(
                .plain(.distinct).with { $0.requestedSnapshot = snapshot },
                "SUBOK,1,2,2",
                "U,1,1,a|b",
                "U,1,1,c|",
                "U,1,1,d|"
            )
            let isOver = snapshot == .no
            #expect(table.presentState().count == count + (isOver ? 1 : 0))
        }
    }

    @Test func clearedDistinctListIsEmptyForLateJoiners() throws {
        let table = try Self.table(.plain(.distinct), "SUBOK,1,2,2", "U,1,1,a|b", "EOS,1,1", "CS,1,1", "U,1,1,|c")
        #expect(table.presentState().map(\.brief) == ["1* a|c {1 2}", "eos 1"])
    }

    @Test func lateJoinerOfCommandGetsOneAddForEachKey() throws {
        let table = try Self.table(
            .command(),
            "SUBCMD,1,2,4,3,4",
            "U,1,1,a|b|k2|ADD",
            "U,1,1,c||k1|ADD",
            "EOS,1,1",
            "U,1,1,d||k2|UPDATE"
        )
        #expect(
            table.presentState().map(\.brief) == ["1* d|b|k2|ADD {1 2 3 4}", "1* c|b|k1|ADD {1 2 3 4}", "eos 1"]
        )
    }

    @Test func lateJoinerOfTwoLevelsGetsBoth() throws {
        let table = try Self.table(.twoLevel(), "SUBCMD,1,2,4,3,4", "U,1,1,a|b|k|ADD", "SUBOK,2,1,2", "U,2,1,c|d")
        #expect(table.presentState().map(\.brief) == ["1* a|b|k|ADD|c|d {1 2 3 4 5 6}", "eos 1"])
    }

    @Test func lateJoinerDuringTheSnapshotWaitsForItsEnd() throws {
        let table = try Self.table(.command(), "SUBCMD,1,2,4,3,4", "U,1,1,a|b|k|ADD")
        #expect(table.presentState().map(\.brief) == ["1* a|b|k|ADD {1 2 3 4}"])
    }

    @Test func emptySnapshotThatIsOverIsReportedToLateJoiners() throws {
        let table = try Self.table(.command(), "SUBCMD,1,2,4,3,4", "EOS,1,2")
        #expect(table.presentState().map(\.brief) == ["eos 2"])
    }

    @Test func lateJoinerOfRawGetsNothing() throws {
        let table = try Self.table(.plain(.raw), "SUBOK,1,2,2", "U,1,1,a|b")
        #expect(table.presentState() == [])
        #expect(table.value(item: 1, field: 1) == "a")
    }
}
