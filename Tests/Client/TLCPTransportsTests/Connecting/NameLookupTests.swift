internal import Glibc
internal import NIOCore
internal import NIOEmbedded
internal import NIOPosix
internal import Synchronization
internal import Testing

@testable internal import TLCPTransports

@Suite struct NameLookupTests {
    @Test func aSlowNameDoesNotDelayAnother() throws {
        let fixture = Fixture()
        let slow = fixture.query("slow")
        fixture.whileLooking(up: "slow") {
            let quick = fixture.query("quick")
            fixture.runThread()
            #expect(fixture.addresses(of: quick) == ["quick:80"])
            #expect(fixture.addresses(of: slow) == nil)
        }
        fixture.runThread()
        #expect(fixture.addresses(of: slow) == ["slow:80"])
    }

    @Test func queriesOfOneNameShareItsLookup() throws {
        let fixture = Fixture()
        let first = fixture.query("host")
        let second = Mutex<EventLoopFuture<[SocketAddress]>?>(nil)
        fixture.whileLooking(up: "host") {
            let query = fixture.query("host", port: 443)
            second.withLock { $0 = query }
        }
        fixture.runThread()
        #expect(fixture.addresses(of: first) == ["host:80"])
        #expect(fixture.addresses(of: try #require(second.withLock { $0 })) == ["host:443"])
        #expect(fixture.lookedUp == ["host"])
        #expect(fixture.heldThreads == 0)
    }

    @Test func namesAreComparedByBytes() {
        let fixture = Fixture()
        _ = fixture.query("\u{E9}")
        _ = fixture.query("e\u{301}")
        fixture.runThread()
        fixture.runThread()
        #expect(fixture.lookedUp.map { Array($0.utf8) } == ["\u{E9}", "e\u{301}"].map { Array($0.utf8) })
    }

    @Test func namesBeyondTheLimitWait() {
        let fixture = Fixture(limit: 1)
        let queries = ["a", "b", "c"].map { fixture.query($0) }
        #expect(fixture.heldThreads == 1)
        fixture.runThread()
        #expect(fixture.lookedUp == ["a", "b", "c"])
        #expect(queries.map(fixture.addresses) == [["a:80"], ["b:80"], ["c:80"]])
        // The thread has ended: the next name needs another.
        _ = fixture.query("d")
        #expect(fixture.heldThreads == 1)
        fixture.runThread()
    }

    @Test func aCanceledQueryIsNotLookedUp() {
        let fixture = Fixture(limit: 1)
        _ = fixture.query("a")
        let query = NameQuery(host: "b", port: 80, on: fixture.loop, fixture.lookup)
        let result = query.initiateAAAAQuery(host: "b", port: 80)
        query.cancelQueries()
        fixture.runThread()
        #expect(fixture.lookedUp == ["a"])
        #expect(fixture.addresses(of: result) == ["failed"])
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func aLiteralAddressNeedsNoLookup(host: String) throws {
        let fixture = Fixture()
        let query = NameQuery(host: host, port: 80, on: fixture.loop, fixture.lookup)
        let families = (query.initiateAAAAQuery(host: host, port: 80), query.initiateAQuery(host: host, port: 80))
        fixture.loop.run()
        #expect(fixture.heldThreads == 0)
        let found = try families.0.wait() + families.1.wait()
        #expect(found.map(\.ipAddress) == [host])
        #expect(found.map(\.port) == [80])
    }

    @Test func withoutAThreadTheLookupFails() {
        let fixture = Fixture(refusesThreads: true)
        #expect(fixture.addresses(of: fixture.query("a")) == ["failed"])
        #expect(fixture.addresses(of: fixture.query("b")) == ["failed"])
    }

    @Test func theSystemFindsTheLocalHost() throws {
        let found = try SystemNames.addresses(of: "localhost").get()
        #expect(found.contains { $0.ipAddress == "127.0.0.1" || $0.ipAddress == "::1" })
        let empty = SystemNames.addresses(of: "")
        #expect(throws: NameLookup.Failure.self) { try empty.get() }
    }
}

/// A lookup whose threads are closures that the test runs itself.
private final class Fixture: Sendable {
    private struct State {
        var threads: [@Sendable () -> Void] = []
        var lookedUp: [String] = []
        var meanwhile: [String: @Sendable () -> Void] = [:]
    }

    let loop = EmbeddedEventLoop()
    let lookup: NameLookup
    private let state: SharedState

    /// What the closures of the lookup share with the fixture.
    private final class SharedState: Sendable {
        let state = Mutex(State())
    }

    init(limit: Int = 8, refusesThreads: Bool = false) {
        let shared = SharedState()
        state = shared
        lookup = NameLookup(limit: limit) { name in
            let meanwhile = shared.state.withLock { state in
                state.lookedUp.append(name)
                return state.meanwhile.removeValue(forKey: name)
            }
            meanwhile?()
            return Result { [SocketAddress(try SocketAddress(ipAddress: "127.0.0.1", port: 0).ipv4, host: name)] }
        } spawn: { body in
            if !refusesThreads { shared.state.withLock { $0.threads.append(body) } }
            return !refusesThreads
        }
    }

    var lookedUp: [String] { state.state.withLock { $0.lookedUp } }
    var heldThreads: Int { state.state.withLock { $0.threads.count } }

    func query(_ host: String, port: Int = 80) -> EventLoopFuture<[SocketAddress]> {
        let query = NameQuery(host: host, port: port, on: loop, lookup)
        _ = query.initiateAAAAQuery(host: host, port: port)
        return query.initiateAQuery(host: host, port: port)
    }

    /// Runs the closure while that name is looked up.
    func whileLooking(up name: String, _ body: @escaping @Sendable () -> Void) {
        state.state.withLock { $0.meanwhile[name] = body }
    }

    /// Runs the oldest thread to its end.
    func runThread() {
        let thread = state.state.withLock { $0.threads.isEmpty ? nil : $0.threads.removeFirst() }
        thread?()
    }

    /// Host and port of the addresses; `failed` for an error; nil if there is no result yet.
    func addresses(of query: EventLoopFuture<[SocketAddress]>) -> [String]? {
        loop.run()
        let result = Mutex<[String]?>(nil)
        query.whenComplete { outcome in
            let texts = (try? outcome.get())?.map { "\($0.hostName):\($0.port ?? 0)" } ?? ["failed"]
            result.withLock { $0 = texts }
        }
        return result.withLock { $0 }
    }
}

extension SocketAddress {
    fileprivate var ipv4: sockaddr_in {
        if case .v4(let address) = self { address.address } else { sockaddr_in() }
    }

    fileprivate var hostName: String {
        if case .v4(let address) = self { address.host } else { "" }
    }
}
