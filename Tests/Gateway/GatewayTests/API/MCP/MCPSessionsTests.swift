import Primitives
import Testing

@testable import Gateway

@Suite struct MCPSessionsTests {
    /// Composed letters and combining marks make equal strings of different bytes, which name different items.
    @Test func resourcesAreComparedByTheirBytes() {
        let session = MCPSession(owner: nil)
        let uris = ["feed://quotes/\u{E9}", "feed://quotes/e\u{301}"]
        #expect(session.subscribe(uris[0], cursor: "a"))
        #expect(!session.changed(uris[1], cursor: "b"))
        #expect(session.subscribe(uris[1], cursor: nil))
        #expect(session.cursors.map { $0.cursor } == ["a", nil])
        session.unsubscribe(uris[0])
        #expect(session.cursors.map { Array($0.uri.utf8) } == [Array(uris[1].utf8)])
    }

    /// A feed of any items admits names of any length.
    @Test func theNamesOfTheResourcesOfASessionAreLimited() {
        let session = MCPSession(owner: nil)
        let uris = (0..<20).map { "feed://any/\($0)" + String(repeating: "x", count: 7_000) }
        #expect(uris.map { session.subscribe($0, cursor: nil) }.filter(\.self).count == 2)
        // A resource of the session has the cursor of its newest subscription.
        #expect(session.subscribe(uris[1], cursor: "a") && session.cursors.map(\.cursor) == [nil, "a"])
        session.unsubscribe(uris[0])
        #expect(session.subscribe(uris[2], cursor: nil))
        #expect((0..<30).map { session.subscribe("feed://any/\($0)", cursor: nil) }.filter(\.self).count == 18)
    }

    @Test func aSessionSubscribesToTwentyResourcesAtMost() {
        let session = MCPSession(owner: nil)
        for number in 0..<20 { #expect(session.subscribe("feed://\(number)", cursor: nil)) }
        #expect(!session.subscribe("feed://20", cursor: nil))
        #expect(session.subscribe("feed://19", cursor: "x"))
        session.unsubscribe("feed://0")
        #expect(session.subscribe("feed://20", cursor: nil))
        #expect(!session.changed("feed://0", cursor: "y"))
    }

    @Test func theSessionOfACallerUsedLeastRecentlyMakesRoom() throws {
        let sessions = MCPSessions()
        let caller = Caller(identity: "alice")
        let other = try sessions.make(for: Caller(identity: "bob"), from: "10.0.0.1", at: .zero)
        let ids = try (0..<101).map { number in
            try sessions.make(for: caller, from: "10.0.0.1", at: Moment(nanoseconds: Int64(number)))
        }
        #expect(sessions.session(ids[0], of: caller, at: .zero) == nil)
        #expect(sessions.session(ids[1], of: caller, at: .zero) != nil)
        #expect(sessions.session(ids[1], of: Caller(), at: .zero) == nil)
        #expect(sessions.session(other, of: Caller(identity: "bob"), at: .zero) != nil)
    }

    @Test func tenCallersKeepNoOtherOneAway() throws {
        let sessions = MCPSessions()
        let owner = Caller(identity: "owner")
        let single = try sessions.make(for: owner, from: "10.0.0.1", at: .zero)
        for number in 0..<999 {
            let caller = Caller(identity: "caller\(number % 10)")
            _ = try sessions.make(for: caller, from: "10.0.0.1", at: Moment(nanoseconds: 1))
        }
        for number in 0..<3 {
            let other = Caller(identity: "other\(number)")
            let id = try sessions.make(for: other, from: "10.0.0.1", at: Moment(nanoseconds: 2))
            #expect(sessions.session(id, of: other, at: .zero) != nil)
        }
        #expect(sessions.session(single, of: owner, at: .zero) != nil)
    }

    @Test func callersWithoutCredentialsEndNoSessionsOfOthers() throws {
        let sessions = MCPSessions()
        let alice = Caller(identity: "alice")
        let first = try sessions.make(for: alice, from: "10.0.0.1", at: .zero)
        let neighbour = try sessions.make(for: Caller(), from: "2001:db8:1::1", at: .zero)
        for host in 0..<99 {
            // All addresses of the last 64 bits are of one network.
            for last in 1...2 { _ = try sessions.make(for: Caller(), from: "2001:db8:2::\(last)", at: .zero) }
            _ = try sessions.make(for: Caller(), from: "10.0.1.\(host)", at: .zero)
        }
        #expect(sessions.session(neighbour, of: Caller(), at: .zero) != nil)
        func fill() throws {
            for host in 0..<1_000 {
                _ = try sessions.make(for: Caller(), from: "10.1.\(host / 250).\(host % 250)", at: .zero)
            }
        }
        #expect { try fill() } throws: { ($0 as? Problem)?.code == .gatewayFull }
        #expect(sessions.session(neighbour, of: Caller(), at: .zero) != nil)
        #expect(sessions.session(first, of: alice, at: .zero) != nil)
        _ = try sessions.make(for: alice, from: "10.0.0.1", at: .zero)
        // Sessions that are not used make room after some time.
        _ = try sessions.make(for: Caller(), from: "10.2.0.1", at: Moment.zero + .seconds(600))
    }
}
