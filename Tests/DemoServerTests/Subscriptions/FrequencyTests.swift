internal import DemoServer
internal import Testing

struct FrequencyTests {
    @Test func mergeConflatesToTheNewestRow() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1, "&LS_requested_max_frequency=2.0&LS_snapshot=true")
        for price in 1...4 {
            bench.publish("item1", ["Acme", "\(price)"], to: "QUOTES")
            bench.advance(by: .milliseconds(100))
        }
        #expect(bench.lines(link) == ["U,1,1,Acme|1"])
        bench.advance(by: .milliseconds(100))
        #expect(bench.lines(link) == ["U,1,1,|4"])
        bench.advance(by: .seconds(2))
        #expect(bench.lines(link).isEmpty)
    }

    /// Java, for instance, writes numbers so; an error 65 would end the session.
    @Test(
        arguments: [
            ("5.0E-4", "0.0005"), ("1e-05", "0.00001"), ("1.5E%2B3", "1500.0"), ("2", "2.0"), ("1E", nil),
            ("1e%2B%2B2", nil), ("E3", nil), ("1e999", nil), ("0e0", nil),
        ] as [(String, String?)]
    )
    func limitsMayHaveAnExponent(requested: String, granted: String?) {
        let (bench, link, _) = ServerBench.withSession()
        let first = bench.subscribe(link, 1, "&LS_requested_max_frequency=\(requested)")
        #expect(first.contains("CONF,1,\(granted ?? ""),filtered") == (granted != nil))
        #expect(first.contains("REQERR,1,65,Invalid value of LS_requested_max_frequency") == (granted == nil))
        bench.say("control\nLS_reqId=2&LS_op=constrain&LS_requested_max_bandwidth=\(requested)", on: link)
        #expect(bench.lines(link).contains("CONS,\(granted ?? "")") == (granted != nil))
    }

    @Test func itemsAreLimitedSeparately() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1, group: "item1%20item2", "&LS_requested_max_frequency=1")
        for item in ["item1", "item2"] { bench.publish(item, ["n", "1"], to: "QUOTES") }
        for item in ["item1", "item2"] { bench.publish(item, ["n", "2"], to: "QUOTES") }
        #expect(bench.lines(link) == ["U,1,1,n|1", "U,1,2,n|1"])
        bench.advance(by: .seconds(1))
        #expect(bench.lines(link) == ["U,1,1,|2", "U,1,2,|2"])
    }

    @Test func distinctKeepsItsBufferAndDropsTheOldest() {
        let (bench, link, _) = ServerBench.withSession()
        bench.subscribeList(
            link,
            "news",
            schema: "headline",
            adapter: "NEWS",
            "&LS_requested_max_frequency=1&LS_requested_buffer_size=2"
        )
        for line in ["a", "b", "c", "d"] { bench.publish("news", [line], to: "NEWS") }
        bench.advance(by: .seconds(5))
        #expect(bench.lines(link) == ["U,1,1,a", "U,1,1,c", "U,1,1,d"])
    }

    @Test func commandLimitsUpdatesOfAKeyButNotItsAdditionAndDeletion() {
        let (bench, link, _) = ServerBench.withSession()
        bench.subscribePortfolio(link, 1, "&LS_requested_max_frequency=1&LS_snapshot=true")
        bench.publish("portfolio1", ["a", "ADD", "1"], to: "PORTFOLIO")
        bench.publish("portfolio1", ["a", "UPDATE", "2"], to: "PORTFOLIO")
        bench.publish("portfolio1", ["a", "UPDATE", "3"], to: "PORTFOLIO")
        bench.publish("portfolio1", ["b", "ADD", "9"], to: "PORTFOLIO")
        #expect(bench.lines(link) == ["U,1,1,a|ADD|1", "U,1,1,b||9"])
        bench.advance(by: .seconds(1))
        #expect(bench.lines(link) == ["U,1,1,a|UPDATE|3"])
        bench.publish("portfolio1", ["a", "UPDATE", "4"], to: "PORTFOLIO")
        bench.publish("portfolio1", ["a", "DELETE", nil], to: "PORTFOLIO")
        #expect(bench.lines(link) == ["U,1,1,|DELETE|#"])
        bench.advance(by: .seconds(4))
        #expect(bench.lines(link).isEmpty)
    }

    @Test func unfilteredForwardsEverythingAndReportsLosses() {
        let (bench, link, _) = ServerBench.withSession(ServerBench.still { $0.limits.bufferSize = 3 })
        _ = bench.subscribe(link, 1, "&LS_requested_max_frequency=unfiltered")
        bench.setWritable(false, link)
        for price in 1...5 { bench.publish("item1", ["Acme", "\(price)"], to: "QUOTES") }
        bench.setWritable(true, link)
        #expect(bench.lines(link) == ["OV,1,1,2", "U,1,1,Acme|3", "U,1,1,|4", "U,1,1,|5"])
    }

    @Test func slowConnectionGetsTheNewestOfEachItem() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1, group: "item1%20item2")
        bench.setWritable(false, link)
        for price in 1...50 { bench.publish("item\(price % 2 + 1)", ["n", "\(price)"], to: "QUOTES") }
        bench.setWritable(true, link)
        #expect(bench.lines(link) == ["U,1,2,n|49", "U,1,1,n|50"])
    }

    @Test func reconfigurationIsAnnouncedBeforeItTakesEffect() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1, "&LS_requested_max_frequency=0.1")
        bench.publish("item1", ["Acme", "1"], to: "QUOTES")
        bench.publish("item1", ["Acme", "2"], to: "QUOTES")
        bench.say("control\nLS_reqId=2&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=unlimited", on: link)
        #expect(bench.lines(link) == ["U,1,1,Acme|1", "REQOK,2", "CONF,1,unlimited,filtered", "U,1,1,|2"])
    }

    @Test func bandwidthSpreadsUpdatesOverTime() {
        let bench = ServerBench()
        let (link, _) = bench.openSession("&LS_requested_max_bandwidth=1.6")
        _ = bench.subscribe(link, 1, mode: "RAW", group: "events", schema: "text", adapter: "EVENTS")
        // 1.6 kbit/s are 200 bytes a second; a line of 100 bytes takes half a second.
        let text = String(repeating: "x", count: 91)
        for _ in 0..<4 { bench.publish("events", [text], to: "EVENTS") }
        #expect(bench.lines(link).count == 1)
        bench.advance(by: .milliseconds(505))
        #expect(bench.lines(link).count == 1)
        bench.say("control\nLS_reqId=2&LS_op=constrain&LS_requested_max_bandwidth=unlimited", on: link)
        #expect(bench.lines(link) == ["REQOK,2", "CONS,unlimited", "U,1,1,", "U,1,1,"])
    }

    @Test func higherBandwidthReleasesUpdatesDelayedByALowerOne() {
        let bench = ServerBench()
        let (link, _) = bench.openSession("&LS_requested_max_bandwidth=0.01")
        _ = bench.subscribe(link, 1)
        for price in ["1", "2"] { bench.publish("item1", ["Acme", price], to: "QUOTES") }
        #expect(bench.lines(link) == ["U,1,1,Acme|1"])
        bench.say("control\nLS_reqId=2&LS_op=constrain&LS_requested_max_bandwidth=1000", on: link)
        #expect(bench.lines(link) == ["REQOK,2", "CONS,1000.0", "U,1,1,|2"])
    }

    @Test func higherFrequencyReleasesUpdatesDelayedByALowerOne() {
        let (bench, link, _) = ServerBench.withSession()
        bench.subscribePortfolio(link, 2, "&LS_requested_max_frequency=0.01")
        bench.publish("portfolio1", ["A", "ADD", "1"], to: "PORTFOLIO")
        bench.publish("portfolio1", ["B", "ADD", "1"], to: "PORTFOLIO")
        for quantity in ["2", "3"] {
            for key in ["B", "A"] { bench.publish("portfolio1", [key, "UPDATE", quantity], to: "PORTFOLIO") }
        }
        bench.advance(by: .seconds(1))
        _ = bench.lines(link)
        bench.say("control\nLS_reqId=3&LS_op=reconf&LS_subId=2&LS_requested_max_frequency=unlimited", on: link)
        #expect(
            bench.lines(link) == ["REQOK,3", "CONF,2,unlimited,filtered", "U,2,1,|UPDATE|3", "U,2,1,A||"]
        )
    }

    @Test func unmanagedBandwidthCannotBeLimited() {
        let bench = ServerBench(ServerBench.still { $0.limits.bandwidthUnmanaged = true })
        let link = bench.openWebSocket()
        bench.say(ServerBench.create + "&LS_requested_max_bandwidth=10", on: link)
        #expect(bench.lines(link).last == "CONS,unmanaged")
        bench.say("control\nLS_reqId=2&LS_op=constrain&LS_requested_max_bandwidth=5", on: link)
        #expect(bench.lines(link) == ["REQOK,2", "CONS,unmanaged"])
    }
}
