internal import SessionCore
internal import TLCP
internal import Testing

/// Rows, snapshot flags, patches, and violations.
struct SubscriptionStoreUpdateTests {
    // MARK: - Values

    @Test func sequenceOfDeltasGivesTheRows() throws {
        var fixture = try StoreFixture.subscribed(
            .merge(["1", "2", "3", "4", "5"]).with { $0.requestedSnapshot = .no }
        )
        let updates = try fixture.receive(
            "U,1,1,a|#|$|d|e",
            "U,1,1,||x||",
            "U,1,1,^4|E",
            "U,1,1,A|^3|",
            "U,1,1,^5",
            "U,1,1,|b|$|^2",
            "U,1,1,^Tb||^Tadnew|#|",
            "U,1,1,|^Tbcyz|||$"
        )
        #expect(
            updates.brief == [
                "1 a|#|$|d|e {1 2 3 4 5}", "1 a|#|x|d|e {3}", "1 a|#|x|d|E {5}", "1 A|#|x|d|E {1}",
                "1 A|#|x|d|E {}", "1 A|b|$|d|E {2 3}", "1 A|b|new|#|E {3 4}", "1 A|byz|new|#|$ {2 5}",
            ]
        )
    }

    @Test func valueSentAgainUnchangedIsNotChanged() throws {
        var fixture = try StoreFixture.subscribed(.plain(.raw))
        #expect(try fixture.receive("U,1,1,a|$", "U,1,1,a|#", "U,1,1,b|#").brief.last == "1 b|# {1}")
    }

    @Test func itemsHaveRowsOfTheirOwn() throws {
        var fixture = try StoreFixture.subscribed(.plain(.raw))
        #expect(try fixture.receive("U,1,1,a|b", "U,1,2,c|d", "U,1,1,|B").brief.last == "1 a|B {2}")
        #expect(try fixture.receive("U,1,2,|").brief == ["2 c|d {}"])
    }

    @Test func updatesNameTheirItemAndFields() throws {
        var fixture = try StoreFixture.subscribed()
        guard case .notify(_, .update(let update))? = try fixture.receive("U,1,2,x|y").first else {
            Issue.record("no update")
            return
        }
        #expect(update.itemName == "i2")
        #expect(update.layout.position(ofField: "f2") == 2)
        #expect(update.key == nil)
    }

    // MARK: - Patches

    @Test func patchesAreShownForFieldsHeldAsDocuments() throws {
        var fixture = try StoreFixture.subscribed()
        let lines = [
            #"U,1,1,{"a":1}|x"#, #"U,1,1,^P[{"op":"replace"%2C"path":"/a"%2C"value":2}]|"#, "U,1,1,|y", "U,1,1,t|",
            "U,1,1,|",
        ]
        let patches = try lines.map { line -> [Int: String] in
            guard case .notify(_, .update(let update))? = try fixture.receive(line).first else { return [:] }
            return update.patches
        }
        #expect(patches == [[:], [1: #"[{"op":"replace","path":"/a","value":2}]"#], [1: "[]"], [:], [:]])
    }

    @Test func commandRowsShowNoPatches() throws {
        var fixture = try StoreFixture.subscribed(.command())
        let effects = try fixture.receive(
            #"U,1,1,{"a":1}|x|k|ADD"#,
            #"U,1,1,^P[{"op":"remove"%2C"path":"/a"}]||k|UPDATE"#
        )
        guard case .notify(_, .update(let update))? = effects.last else { return }
        #expect(update.patches.isEmpty)
        #expect(update.values == ["{}", "x", "k", "UPDATE"])
    }

    // MARK: - Snapshot

    @Test func mergeSnapshotIsTheFirstUpdateOfEachItem() throws {
        var fixture = try StoreFixture.subscribed()
        #expect(
            try fixture.receive("U,1,1,a|b", "U,1,1,c|", "U,1,2,a|b", "U,1,2,|").brief
                == ["1* a|b {1 2}", "1 c|b {1}", "2* a|b {1 2}", "2 a|b {}"]
        )
    }

    @Test(arguments: [RequestedSnapshot.yes, .length(3)])
    func distinctSnapshotLastsUntilItsEndForEachItem(snapshot: RequestedSnapshot) throws {
        var fixture = try StoreFixture.subscribed(.plain(.distinct).with { $0.requestedSnapshot = snapshot })
        let effects = try fixture.receive(
            "U,1,1,a|b",
            "U,1,1,c|",
            "CS,1,1",
            "U,1,1,d|",
            "EOS,1,1",
            "U,1,1,e|",
            "U,1,2,a|b",
            "CS,1,1",
            "U,1,1,|"
        )
        #expect(
            effects.brief == [
                "1* a|b {1 2}", "1* c|b {1}", "cs 1", "1* d|b {1}", "eos 1", "1 e|b {1}", "2* a|b {1 2}", "cs 1",
                "1 e|b {}",
            ]
        )
    }

    @Test func commandSnapshotLastsUntilItsEnd() throws {
        var fixture = try StoreFixture.subscribed(.command())
        let effects = try fixture.receive("U,1,1,a|b|k|ADD", "EOS,1,1", "U,1,1,c||k|UPDATE", "EOS,1,2")
        #expect(effects.brief == ["1* a|b|k|ADD {1 2 3 4}", "eos 1", "1 c|b|k|UPDATE {1 4}", "eos 2"])
    }

    @Test(arguments: [SubscriptionMode.merge, .distinct])
    func nothingIsSnapshotThatWasNotAskedFor(mode: SubscriptionMode) throws {
        for snapshot in [RequestedSnapshot?.none, .no] {
            var fixture = try StoreFixture.subscribed(.plain(mode).with { $0.requestedSnapshot = snapshot })
            #expect(try fixture.receive("U,1,1,a|b").brief == ["1 a|b {1 2}"])
        }
    }

    @Test func snapshotStartsAgainInANewSession() throws {
        var fixture = try StoreFixture.subscribed(.plain(.distinct))
        _ = try fixture.receive("EOS,1,1")
        _ = fixture.store.sessionEnded()
        _ = fixture.send()
        #expect(try fixture.receive("SUBOK,1,2,2", "U,1,1,a|b").brief.last == "1* a|b {1 2}")
    }

    // MARK: - Violations

    @Test(arguments: [
        "U,1,1,|b", "U,1,1,^2", "U,1,1,^Tb|b", "U,1,1,^P[]|b", "U,1,1,a", "U,1,1,a|b|c", "U,1,1,^3", "U,1,1,^0|a|b",
        "U,1,1,^X1|b", "U,1,3,a|b", "U,1,1,%G0|b", "EOS,1,1", "CS,1,1", "OV,1,3,1",
    ])
    func badLineInMergeModeClosesTheSession(line: String) throws {
        var fixture = try StoreFixture.subscribed()
        #expect(try fixture.receive(line).brief == ["!"])
    }

    @Test(arguments: ["^Tz|", "^P[]|", "|^Tb", "|^P[]", "^T9|"])
    func badDeltaClosesTheSession(fields: String) throws {
        var fixture = try StoreFixture.subscribed()
        #expect(try fixture.receive("U,1,1,a|#", "U,1,1," + fields).brief.last == "!")
    }

    /// The limit is one of this client, which keeps one subscription from taking the time of all others.
    @Test(arguments: ["^Ta", "^P[]"])
    func differenceFromATooLargeValueEndsItsSubscriptionAlone(difference: String) throws {
        var fixture = try StoreFixture.subscribed()
        let value = String(repeating: " ", count: ItemRow.largestDiffBase) + "1"
        _ = try fixture.receive("U,1,1,\(value)|b")
        let message = "field 1: a difference from a value that is too large for differences"
        #expect(
            try fixture.receive("U,1,1,\(difference)|").brief == ["failed 61 \(message)", ">"]
        )
        #expect(fixture.send() == ["LS_reqId=2&LS_subId=1&LS_op=delete&LS_ack=false"])
        #expect(try fixture.receive("U,1,1,a|b", "UNSUB,1") == [])
    }

    @Test func snapshotEventsInRawModeCloseTheSession() throws {
        for line in ["EOS,1,1", "CS,1,1"] {
            var fixture = try StoreFixture.subscribed(.plain(.raw))
            #expect(
                try fixture.receive(line) == [
                    .protocolViolation("\(line.prefix { $0 != "," }) for a subscription in RAW mode")
                ]
            )
        }
    }

    @Test(arguments: ["EOS,1,3", "CS,1,3", "OV,1,3,4", "U,1,9,a|b"])
    func itemOutsideTheListClosesTheSession(line: String) throws {
        var fixture = try StoreFixture.subscribed(.plain(.distinct))
        #expect(try fixture.receive(line).brief == ["!"])
    }

    @Test func numbersBelowOneNeverTrap() throws {
        var fixture = try StoreFixture.subscribed(.command())
        for number in [0, -1, .min] {
            let fields = FieldList(Array("a|b|k|ADD".utf8)[...])
            #expect(fixture.receive(.update(SubscriptionID(1), item: number, fields: fields)).brief == ["!"])
            #expect(fixture.receive(.eos(SubscriptionID(1), item: number)).brief == ["!"])
        }
        var other = StoreFixture.added(.command())
        let positions = ServerNotification.subCmd(
            SubscriptionID(1),
            items: 2,
            fields: 4,
            keyPosition: 0,
            commandPosition: -3
        )
        #expect(other.receive(positions).brief == ["!"])
        #expect(other.receive(.unsub(SubscriptionID(-9))) == [])
    }

    @Test func announcementOfTheWrongKindClosesTheSession() throws {
        var fixture = StoreFixture.added(.command())
        #expect(try fixture.receive("SUBOK,1,2,4") == [.protocolViolation("SUBOK for a subscription in COMMAND mode")])
        var other = StoreFixture.added()
        #expect(
            try other.receive("SUBCMD,1,2,2,1,2") == [.protocolViolation("SUBCMD for a subscription in MERGE mode")]
        )
    }

    @Test(arguments: ["SUBCMD,1,2,4,5,4", "SUBCMD,1,2,4,3,5", "SUBCMD,1,2,4,3,3"])
    func impossiblePositionsCloseTheSession(line: String) throws {
        var fixture = StoreFixture.added(.command())
        #expect(try fixture.receive(line).brief == ["!"])
    }

    @Test func negativeSizeClosesTheSession() throws {
        var fixture = StoreFixture.added(SubscriptionProperties(mode: .merge, items: .group("g"), fields: .group("s")))
        #expect(fixture.receive(.subOK(SubscriptionID(1), items: -1, fields: 2)).brief == ["!"])
        #expect(fixture.receive(.subOK(SubscriptionID(1), items: 1, fields: -2)).brief == ["!"])
    }

    private static let excessiveSizes = [
        (Int.max, 2), (2, Int.max), (1_048_577, 1), (1 << 20, 1 << 16), (1 << 20, 5), (100, 1 << 16),
    ]

    @Test(arguments: excessiveSizes, [SubscriptionMode.merge, .command])
    func subscriptionOfExcessiveSizeFailsAlone(size: (items: Int, fields: Int), mode: SubscriptionMode) throws {
        var fixture = StoreFixture.added(SubscriptionProperties(mode: mode, items: .group("g"), fields: .group("s")))
        let counts = "\(size.items),\(size.fields)"
        let effects = try fixture.receive(mode == .command ? "SUBCMD,1,\(counts),1,2" : "SUBOK,1,\(counts)")
        let message = "Too large: \(size.items) items with \(size.fields) fields"
        #expect(
            effects == [.notify(SubscriptionToken(1), .failed(code: 61, message: message)), .requestsWaiting]
        )
        let isDeleteDue = !fixture.store.requests.isEmpty
        #expect(isDeleteDue)
    }

    @Test(arguments: [(1 << 20, 4), (64, 1 << 16)])
    func subscriptionOfTheLargestSizeIsAccepted(items: Int, fields: Int) throws {
        var fixture = StoreFixture.added(SubscriptionProperties(mode: .merge, items: .group("g"), fields: .group("s")))
        let effects = fixture.receive(.subOK(SubscriptionID(1), items: items, fields: fields))
        #expect(effects.count == 1)
    }

    @Test(arguments: ["U,1,1,a|b|#|ADD", "U,1,1,a|b|#|DELETE"])
    func nullKeyClosesTheSession(line: String) throws {
        var fixture = try StoreFixture.subscribed(.command())
        #expect(try fixture.receive(line).brief == ["!"])
    }
}
