internal import DemoServer
internal import Testing

struct SubscriptionTests {
    @Test(arguments: [
        ("LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=NOPE", "17,Data Adapter not found"),
        ("LS_mode=MERGE&LS_group=nosuch&LS_schema=price&LS_data_adapter=QUOTES", "21,Bad Item Group name"),
        ("LS_mode=MERGE&LS_group=item1&LS_schema=nosuch&LS_data_adapter=QUOTES", "23,Bad Field Schema name"),
        ("LS_mode=MERGE&LS_group=&LS_schema=price&LS_data_adapter=QUOTES", "21,Bad Item Group name"),
        ("LS_mode=MERGE&LS_group=item1&LS_schema=&LS_data_adapter=QUOTES", "23,Bad Field Schema name"),
        ("LS_mode=DISTINCT&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES", "24,Invalid mode for these items"),
        ("LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES&LS_selector=s", "25,Bad Selector name"),
        (
            "LS_mode=COMMAND&LS_group=portfolio1&LS_schema=command%20qty&LS_data_adapter=PORTFOLIO",
            "15,The key field is missing from the schema"
        ),
        (
            "LS_mode=COMMAND&LS_group=portfolio1&LS_schema=key%20qty&LS_data_adapter=PORTFOLIO",
            "16,The command field is missing from the schema"
        ),
        ("LS_mode=MERGE&LS_group=item1&LS_data_adapter=QUOTES", "67,Missing LS_schema"),
        (
            "LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_snapshot=3&LS_data_adapter=QUOTES",
            "65,Invalid value of LS_snapshot"
        ),
    ])
    func refusedWithTheCodeOfItsReason(parameters: String, answer: String) {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.lines(link)
        bench.say("control\nLS_reqId=r1&LS_op=add&LS_subId=1&\(parameters)", on: link)
        #expect(bench.lines(link) == ["REQERR,r1,\(answer)"])
    }

    @Test func valuesOfTheSameCharactersAndOtherBytesAreChanges() {
        let (bench, link, _) = ServerBench.withSession(ServerBench.still { $0.acceptsFaultsFromClients = true })
        let parameters = "LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=stock_name"
        bench.say("control\nLS_reqId=1&LS_op=add&\(parameters)", on: link)
        _ = bench.lines(link)
        let names = ["\u{E9}", "e\u{301}", "e\u{301}"]
        for name in names { bench.post("/v1/updates", #"{"item": "item1", "fields": {"stock_name": "\#(name)"}}"#) }
        #expect(bench.lines(link).map { Array($0.utf8) } == names.prefix(2).map { Array("U,1,1,\($0)".utf8) })
    }

    @Test func unfilteredIsRefusedWhereItemsHaveAFrequencyLimit() {
        let (bench, link, _) = ServerBench.withSession(ServerBench.still { $0.limits.frequency = 10 })
        bench.say(
            "control\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES"
                + "&LS_requested_max_frequency=unfiltered",
            on: link
        )
        #expect(bench.lines(link) == ["REQERR,1,26,Unfiltered dispatching not allowed for these items"])
    }

    @Test func repeatedAddIsConfirmedAndHasNoFurtherEffect() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1)
        bench.say(
            "control\nLS_reqId=2&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=name%20price&LS_data_adapter=QUOTES&LS_snapshot=true",
            on: link
        )
        #expect(bench.lines(link) == ["REQOK,2"])
        bench.say(
            "control\nLS_reqId=3&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item2&LS_schema=name&LS_data_adapter=QUOTES",
            on: link
        )
        #expect(bench.lines(link) == ["REQERR,3,65,Subscription ID in use with other parameters"])
    }

    @Test func quotesAreTheDefaultAdapter() {
        var configuration = DemoServerConfiguration()
        configuration.feeds.isMoving = false
        let (bench, link, _) = ServerBench.withSession(configuration)
        bench.say(
            "control\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1%20item30&LS_schema=stock_name&LS_snapshot=true",
            on: link
        )
        #expect(
            bench.lines(link) == [
                "REQOK,1", "SUBOK,1,2,1", "CONF,1,unlimited,filtered", "U,1,1,Alder & Pike", "U,1,2,Dovetail Tools",
            ]
        )
    }

    @Test func mergeWithoutDataSendsNothingUntilTheFirstEvent() {
        let (bench, link, _) = ServerBench.withSession()
        #expect(bench.subscribe(link, 1) == ["SUBOK,1,1,2", "CONF,1,unlimited,filtered"])
        bench.publish("item1", ["Acme", nil], to: "QUOTES")
        bench.publish("item1", ["", "#5"], to: "QUOTES")
        bench.publish("item1", ["", "#5"], to: "QUOTES")
        #expect(bench.lines(link) == ["U,1,1,Acme|#", "U,1,1,$|%235", "U,1,1,|"])
    }

    @Test func emptySnapshotsAreEnded() {
        let (bench, link, _) = ServerBench.withSession()
        #expect(
            bench.subscribe(link, 1, mode: "DISTINCT", group: "news", schema: "headline", adapter: "NEWS")
                == ["SUBOK,1,1,1", "CONF,1,unlimited,filtered", "EOS,1,1"]
        )
        #expect(
            bench.subscribe(link, 2, mode: "DISTINCT", group: "news", schema: "headline", adapter: "NEWS", "")
                == ["SUBOK,2,1,1", "CONF,2,unlimited,filtered"]
        )
        bench.publish("news", ["one"], to: "NEWS")
        bench.publish("news", ["one"], to: "NEWS")
        #expect(bench.lines(link) == ["U,1,1,one", "U,2,1,one", "U,1,1,", "U,2,1,"])
    }

    @Test func snapshotLengthIsHonoured() {
        let bench = ServerBench()
        for line in ["a", "b", "c"] { bench.publish("news", [line], to: "NEWS") }
        let (link, _) = bench.openSession()
        let lines = bench.subscribeList(link, "news", schema: "headline", adapter: "NEWS", "&LS_snapshot=2")
        #expect(lines.suffix(3) == ["U,1,1,b", "U,1,1,c", "EOS,1,1"])
    }

    @Test func clearedListsAndTablesSendClearSnapshot() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1, mode: "DISTINCT", group: "news", schema: "headline", adapter: "NEWS")
        bench.subscribePortfolio(link, 2)
        _ = bench.subscribe(link, 3)
        bench.order(.clear(item: "news"), to: "NEWS")
        bench.order(.clear(item: "portfolio1"), to: "PORTFOLIO")
        bench.order(.clear(item: "item1"), to: "QUOTES")
        #expect(bench.lines(link) == ["CS,1,1", "CS,2,1", "U,3,1,#|#"])
    }

    @Test func lossesAreReportedToUnfilteredAndRawSubscriptionsOnly() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1)
        _ = bench.subscribe(link, 2, "&LS_requested_max_frequency=unfiltered")
        #expect(
            bench.subscribe(link, 3, mode: "RAW", group: "events", schema: "text", adapter: "EVENTS")
                == ["SUBOK,3,1,1", "CONF,3,unlimited,unfiltered"]
        )
        bench.order(.lose(item: "item1", count: 4), to: "QUOTES")
        bench.order(.lose(item: "events", count: 2), to: "EVENTS")
        #expect(bench.lines(link) == ["OV,2,1,4", "OV,3,1,2"])
    }

    @Test func heldSnapshotIsCompleteAfterEndSnapshot() {
        let bench = ServerBench(
            ServerBench.still {
                $0.manualFeeds["SLOW"] = ManualFeedConfiguration(
                    fields: ["key", "command"],
                    mode: .command,
                    holdsSnapshot: true
                )
            }
        )
        let (link, _) = bench.openSession()
        _ = bench.subscribe(link, 1, mode: "COMMAND", group: "table", schema: "key%20command", adapter: "SLOW")
        bench.publish("table", ["a", "ADD"], to: "SLOW")
        bench.order(.endSnapshot(item: "table"), to: "SLOW")
        bench.order(.endSnapshot(item: "table"), to: "SLOW")
        bench.publish("table", ["a", "DELETE"], to: "SLOW")
        #expect(bench.lines(link) == ["U,1,1,a|ADD", "EOS,1,1", "U,1,1,|DELETE"])
    }

    @Test func nothingFollowsTheEndOfASubscription() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1)
        bench.setWritable(false, link)
        bench.publish("item1", ["Acme", "1"], to: "QUOTES")
        bench.say("control\nLS_reqId=2&LS_op=delete&LS_subId=1", on: link)
        bench.setWritable(true, link)
        bench.publish("item1", ["Acme", "2"], to: "QUOTES")
        #expect(bench.lines(link) == ["REQOK,2", "UNSUB,1"])
        bench.say("control\nLS_reqId=3&LS_op=delete&LS_subId=1", on: link)
        #expect(bench.lines(link) == ["REQERR,3,19,Specified subscription not found"])
    }

    @Test func numbersMayBeUsedAgain() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1, group: "item1%20item2")
        bench.setWritable(false, link)
        bench.publish("item2", ["Zeta", "1"], to: "QUOTES")
        bench.say("control\nLS_reqId=2&LS_op=delete&LS_subId=1&LS_ack=false", on: link)
        _ = bench.subscribe(link, 1)
        bench.setWritable(true, link)
        bench.publish("item1", ["Acme", "1"], to: "QUOTES")
        #expect(bench.lines(link) == ["UNSUB,1", "SUBOK,1,1,2", "CONF,1,unlimited,filtered", "U,1,1,Acme|1"])
    }

    @Test func diffsAreUsedWhereFeedAndClientWantThem() {
        let bench = ServerBench(
            ServerBench.still {
                $0.manualFeeds["DOCS"] = ManualFeedConfiguration(
                    fields: ["doc", "text"],
                    fieldDiffs: ["doc": .jsonPatch, "text": .tlcpDiff]
                )
            }
        )
        let document = #"{"name":"a rather long name, so that a patch is shorter","qty":"#
        let text = "The quick brown fox jumps over the lazy dog, again and again"
        bench.publish("d", [document + "1}", text + "."], to: "DOCS")
        let any = bench.openSession().link
        let some = bench.openSession("&LS_supported_diffs=T").link
        let none = bench.openSession("&LS_supported_diffs=").link
        for link in [any, some, none] {
            _ = bench.subscribe(link, 1, group: "d", schema: "doc%20text", adapter: "DOCS")
        }
        bench.publish("d", [document + "2}", text + "!"], to: "DOCS")
        let patch = #"^P[{"op":"replace","path":"/qty","value":2}]"#
        #expect(bench.lines(any) == ["U,1,1,\(patch)|^TCib!"])
        #expect(bench.lines(some) == ["U,1,1,\(document)2}|^TCib!"])
        #expect(bench.lines(none) == ["U,1,1,\(document)2}|\(text)!"])
    }

    @Test func namesAreToldApartByTheirBytes() {
        let (composed, combined) = ("\u{E9}", "e\u{301}")
        let bench = ServerBench(
            ServerBench.still {
                $0.manualFeeds["NAMES"] = ManualFeedConfiguration(
                    items: [composed, combined],
                    fields: [composed, combined]
                )
            }
        )
        let (link, _) = bench.openSession()
        _ = bench.subscribe(link, 1, group: "%C3%A9%20e%CC%81", schema: "e%CC%81%20%C3%A9", adapter: "NAMES")
        bench.publish(composed, ["1", "2"], to: "NAMES")
        bench.publish(combined, ["3", "4"], to: "NAMES")
        #expect(bench.lines(link) == ["U,1,1,2|1", "U,1,2,4|3"])
        bench.say("control\nLS_reqId=2&LS_op=delete&LS_subId=1", on: link)
        bench.publish(combined, ["5", "6"], to: "NAMES")
        #expect(bench.lines(link) == ["REQOK,2", "UNSUB,1"])
    }
}
