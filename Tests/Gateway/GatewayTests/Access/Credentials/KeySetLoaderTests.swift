import Logging
import Primitives
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite struct KeySetLoaderTests {
    static let url = "https://id.example/jwks"

    /// A JWK set with the public keys of these keys.
    static func keySet(_ keys: SigningKey...) -> String {
        let members = keys.map { key in
            let (x, y) = (Base64URL.encode(key.coordinates.x), Base64URL.encode(key.coordinates.y))
            return #"{"kty":"EC","crv":"P-256","alg":"ES256","x":"\#(x)","y":"\#(y)"}"#
        }
        return #"{"keys":[\#(members.joined(separator: ","))]}"#
    }

    /// A configuration that accepts tokens of the keys at a URL.
    static func access() -> AccessConfiguration {
        var access = AccessConfiguration()
        access.webTokens.keySetURL = url
        access.webTokens.rights.operations = [.read, .subscribe]
        access.webTokens.rights.items = [WildcardPattern("*")]
        access.webTokens.rights.upstreams = [WildcardPattern("*")]
        return access
    }

    private func token(_ fixture: AccessFixture, _ key: SigningKey) throws -> String {
        let claims = #"{"sub":"carol","exp":\#(fixture.time.wall + 100)}"#
        return try TokenForge.token(header: #"{"alg":"ES256"}"#, claims: claims, .es256(key))
    }

    private func status(_ fixture: AccessFixture, _ key: SigningKey) throws -> Int {
        fixture.perform("GET", "/v1/clients", as: try token(fixture, key)).status
    }

    /// Runs a loader over these responses, of which one comes each so many seconds; ends after the last one.
    private func load(
        _ fixture: AccessFixture,
        _ responses: [String?],
        _ log: LogRecorder = LogRecorder(),
        every seconds: Double = 0
    ) async -> [Duration] {
        let rest = Mutex(responses)
        let pauses = Mutex<[Duration]>([])
        var loader = KeySetLoader(
            access: fixture.services.access,
            revoke: fixture.services.end,
            logger: log.logger
        )
        loader.fetch = { _ in
            fixture.time.pass(seconds)
            guard let text = rest.withLock({ $0.removeFirst() }) else { throw KeySetError(reason: "status 503") }
            return text
        }
        loader.pause = { time in
            pauses.withLock { $0.append(time) }
            if rest.withLock({ $0.isEmpty }) { throw CancellationError() }
        }
        await loader.run()
        return pauses.withLock { $0 }
    }

    @Test func tokensOfTheLoadedKeysAreAccepted() async throws {
        let (first, second) = (SigningKey(), SigningKey())
        let fixture = try await AccessFixture(Self.access())
        #expect(await load(fixture, [Self.keySet(first)]) == [.seconds(300)])
        #expect(try status(fixture, first) == 200)
        #expect(try status(fixture, second) == 401)
        _ = await load(fixture, [Self.keySet(second)])
        #expect(try status(fixture, first) == 401)
        #expect(try status(fixture, second) == 200)
    }

    @Test func beforeTheSetIsLoadedATokenOfAnUnknownKeyIsToBeShownAgain() async throws {
        let (key, other) = (SigningKey(), SigningKey())
        var access = Self.access()
        access.webTokens.secret = TokenForge.secret
        access.webTokens.publicKey = other.publicPEM
        let fixture = try await AccessFixture(access)
        func request(_ token: String) -> Fixture.Outcome { fixture.perform("GET", "/v1/clients", as: token) }
        let early = request(try token(fixture, key))
        #expect(early.status == 503)
        #expect(early.headers["Retry-After"] == "5")
        #expect(early.headers["WWW-Authenticate"] == nil)
        #expect(request(try token(fixture, other)).status == 200)
        // No key of a set verifies these.
        let claims = #"{"sub":"carol","exp":\#(fixture.time.wall + 100)}"#
        let secret = TokenForge.Signing.hs256("another secret of thirty-two bytes or so")
        #expect(request(try TokenForge.token(header: #"{"alg":"HS256"}"#, claims: claims, secret)).status == 401)
        #expect(request(try TokenForge.token(header: #"{"alg":"none"}"#, claims: claims, .nothing)).status == 401)
        #expect(request("a.b.c").status == 401)
        #expect(request("lsg_unknown").status == 401)
        _ = await load(fixture, [Self.keySet(key)])
        #expect(try status(fixture, key) == 200)
        #expect(try status(fixture, SigningKey()) == 401)
    }

    @Test func aKeyThatLeavesTheSetEndsItsStreamsAndTickets() async throws {
        let (first, second) = (SigningKey(), SigningKey())
        let fixture = try await AccessFixture(Self.access())
        _ = await load(fixture, [Self.keySet(first, second)])
        let tokens = try [first, second].map { try token(fixture, $0) }
        let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f"
        let streams = try tokens.map { try #require(fixture.open("GET", target, as: $0).1) }
        let tickets = tokens.map { fixture.makeTicket(as: $0) }
        _ = await load(fixture, [Self.keySet(second, first)])
        _ = await load(fixture, [Self.keySet(second)])
        #expect(streams.map { fixture.events($0).contains(#""reason":"revoked""#) } == [true, false])
        #expect(fixture.perform("GET", "\(target)&ticket=\(tickets[0])").status == 401)
        #expect(fixture.perform("GET", "\(target)&ticket=\(tickets[1])").isStream)
    }

    /// Counts a call; returns the number of calls.
    private static func next(_ calls: borrowing Mutex<Int>) -> Int {
        calls.withLock { calls in
            calls += 1
            return calls
        }
    }

    @Test func aResponseThatStallsEndsAtTheDeadlineAndTheSetIsLoadedAgain() async throws {
        let key = SigningKey()
        let fixture = try await AccessFixture(Self.access())
        let attempts = Mutex(0)
        let deadlines = Mutex(0)
        let (stalled, far) = (AsyncStream.makeStream(of: Never.self), AsyncStream.makeStream(of: Never.self))
        let pauses = Mutex<[Duration]>([])
        var loader = KeySetLoader(
            access: fixture.services.access,
            revoke: fixture.services.end,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        loader.fetch = { _ in
            // The first response never ends.
            if Self.next(attempts) == 1 { for await _ in stalled.stream {} }
            try Task.checkCancellation()
            return Self.keySet(key)
        }
        loader.deadline = { _ in
            // The deadline of the second attempt may begin before the attempt.
            if Self.next(deadlines) > 1 { for await _ in far.stream {} }
        }
        loader.pause = { time in
            pauses.withLock { $0.append(time) }
            if pauses.withLock({ $0.count }) == 2 { throw CancellationError() }
        }
        await loader.run()
        #expect(pauses.withLock { $0 } == [.seconds(10), .seconds(300)])
        #expect(try status(fixture, key) == 200)
    }

    @Test func aServerThatStallsInItsResponseDoesNotHoldTheLoader() async throws {
        let server = try StallingServer()
        var access = Self.access()
        access.webTokens.keySetURL = "http://127.0.0.1:\(server.port)/jwks"
        let fixture = try await AccessFixture(access)
        let pauses = Mutex<[Duration]>([])
        var loader = KeySetLoader(
            access: fixture.services.access,
            revoke: fixture.services.end,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        loader.deadline = { _ in for await _ in server.begun {} }
        loader.pause = { time in
            pauses.withLock { $0.append(time) }
            throw CancellationError()
        }
        await loader.run()
        #expect(pauses.withLock { $0 } == [KeySetLoader.retryDelay])
    }

    @Test func theAgeOfTheSetIsKnown() async throws {
        let fixture = try await AccessFixture(Self.access())
        #expect(fixture.services.access.keySetFigures == nil)
        _ = await load(fixture, [Self.keySet(SigningKey())])
        fixture.time.pass(40)
        #expect(fixture.services.access.keySetFigures?.age == .seconds(40))
        _ = await load(fixture, [nil])
        #expect(fixture.services.access.keySetFigures?.age == .seconds(40))
    }

    @Test func theLastKeysStayWhileTheSetCannotBeLoaded() async throws {
        let key = SigningKey()
        let fixture = try await AccessFixture(Self.access())
        let pauses = await load(fixture, [Self.keySet(key), nil, "{}", "not JSON"])
        #expect(pauses == [.seconds(300), .seconds(10), .seconds(10), .seconds(10)])
        #expect(try status(fixture, key) == 200)
    }

    /// The keys stayed valid for as long as the set had no other ones.
    @Test(arguments: [#"{"keys":[]}"#, #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"oct","k":"AAAA"}]}"#])
    func aSetWithoutAUsableKeyWithdrawsTheKeys(empty: String) async throws {
        let key = SigningKey()
        let fixture = try await AccessFixture(Self.access())
        _ = await load(fixture, [Self.keySet(key)])
        #expect(fixture.services.access.keySetFigures?.keys == 1)
        let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f"
        let stream = try #require(fixture.open("GET", target, as: try token(fixture, key)).1)
        let log = LogRecorder()
        #expect(await load(fixture, [empty, empty], log) == [.seconds(300), .seconds(300)])
        #expect(try status(fixture, key) == 401)
        #expect(fixture.events(stream).contains(#""reason":"revoked""#))
        #expect(fixture.services.access.keySetFigures?.keys == 0)
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.contains("has no key that can be used") == true)
        _ = await load(fixture, [Self.keySet(key)])
        #expect(try status(fixture, key) == 200)
    }

    @Test func aKeyThatCannotBeUsedDoesNotKeepOthersFromComingAndGoing() async throws {
        let (first, second) = (SigningKey(), SigningKey())
        let fixture = try await AccessFixture(Self.access())
        _ = await load(fixture, [Self.keySet(first)])
        let set = Self.keySet(second).replacing(#"{"keys":["#, with: #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},"#)
        let log = LogRecorder()
        _ = await load(fixture, [set, set], log)
        #expect(try status(fixture, first) == 401)
        #expect(try status(fixture, second) == 200)
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.contains("keys[0]") == true)
        _ = await load(fixture, [set, Self.keySet(second), set], log)
        #expect(log.lines.count == 3)
    }

    @Test func theLogSaysWhyASetCannotBeLoaded() async throws {
        var access = Self.access()
        access.webTokens.keySetURL = "http://127.0.0.1:1/jwks"
        let fixture = try await AccessFixture(access)
        let log = LogRecorder()
        var loader = KeySetLoader(
            access: fixture.services.access,
            revoke: fixture.services.end,
            logger: log.logger
        )
        loader.pause = { _ in throw CancellationError() }
        await loader.run()
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.contains("the connection was refused") == true)
    }

    /// There was a warning after each attempt, every 10 s.
    @Test func theLogRepeatsAReasonAfterAnInterval() async throws {
        let fixture = try await AccessFixture(Self.access())
        let log = LogRecorder()
        _ = await load(fixture, Array(repeating: nil, count: 30), log, every: 10)
        #expect(log.lines.count == 1)
        _ = await load(fixture, [nil, "{}", nil, Self.keySet(SigningKey()), nil, nil], log)
        #expect(log.lines.count == 5)
        _ = await load(fixture, Array(repeating: nil, count: 31), log, every: 10)
        #expect(log.lines.count == 7)
        // Each attempt ends at its deadline.
        _ = await load(fixture, Array(repeating: nil, count: 16), log, every: 20)
        #expect(log.lines.count == 9)
    }

    @Test(.timeLimit(.minutes(1))) func theEndOfTheGatewayIsNoFailureOfALoad() async throws {
        let fixture = try await AccessFixture(Self.access())
        let begun = AsyncStream.makeStream(of: Void.self)
        let log = LogRecorder()
        var loader = KeySetLoader(
            access: fixture.services.access,
            revoke: fixture.services.end,
            logger: log.logger
        )
        loader.fetch = { _ in
            begun.continuation.yield(())
            return try await Awaited<String>().value
        }
        loader.deadline = { _ in try await Awaited<Void>().value }
        let running = Task { [loader] in await loader.run() }
        for await _ in begun.stream { break }
        running.cancel()
        await running.value
        #expect(log.lines.isEmpty)
    }

    @Test func aReloadKeepsTheLoadedKeysOfTheSameURL() async throws {
        let key = SigningKey()
        let fixture = try await AccessFixture(Self.access())
        _ = await load(fixture, [Self.keySet(key)])
        var access = Self.access()
        access.webTokens.audience = nil
        access.limits.rate = 7
        _ = try fixture.services.access.load(access)
        #expect(try status(fixture, key) == 200)
        access.webTokens.keySetURL = "https://other.example/jwks"
        _ = try fixture.services.access.load(access)
        #expect(try status(fixture, key) == 503)
    }

    /// The ticket of another gateway of the cluster was said to be of no use.
    @Test func aTicketOfAKeyThatIsNotKnownBeforeTheSetIsLoadedIsUnavailable() async throws {
        let key = SigningKey()
        let tickets = TicketStore()
        let other = try await AccessFixture(Self.access(), tickets: tickets)
        let fixture = try await AccessFixture(Self.access(), tickets: tickets)
        _ = await load(other, [Self.keySet(key)])
        let ticket = other.makeTicket(as: try token(other, key))
        let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f&ticket=" + ticket
        let early = fixture.perform("HEAD", target)
        #expect(early.status == 503 && early.headers["Retry-After"] != nil)
        _ = await load(fixture, [Self.keySet(key)])
        #expect(fixture.perform("HEAD", target).status == 200)
        _ = await load(fixture, [Self.keySet(SigningKey())])
        #expect(fixture.perform("HEAD", target).status == 401)
    }

    /// Another gateway of the cluster had verified the token; its streams and subscriptions were ended.
    @Test func aKeyThatIsNotKnownBeforeTheSetIsLoadedIsNotLost() async throws {
        let key = SigningKey()
        let other = try await AccessFixture(Self.access())
        _ = await load(other, [Self.keySet(key)])
        let verifier = try #require(other.services.access.policy.verifier)
        let carol = try verifier.caller(of: try token(other, key), now: other.time.wall)
        let access = try await AccessFixture(Self.access()).services.access
        let early = try access.load(Self.access())
        #expect(!early.ends(carol) && early.rights(of: carol) == carol.rights)
        let without = try #require(try access.use(keySet: Self.keySet(SigningKey()), from: Self.url))
        #expect(without.ends(carol) && without.rights(of: carol) == nil)
        #expect(try access.load(Self.access()).ends(carol))
        // A key that was valid is lost with its set.
        var elsewhere = Self.access()
        elsewhere.webTokens.keySetURL = "https://other.example/jwks"
        #expect(try other.services.access.load(elsewhere).ends(carol))
        #expect(try !other.services.access.load(elsewhere).ends(carol))
        #expect(try access.load(AccessFixture.keys()).ends(carol))
    }

    @Test(.timeLimit(.minutes(1))) func aReloadWithAnotherURLLoadsItsSetAtOnce() async throws {
        let key = SigningKey()
        let fixture = try await AccessFixture(Self.access())
        let fetched = AsyncStream.makeStream(of: String.self)
        var loader = KeySetLoader(
            access: fixture.services.access,
            revoke: fixture.services.end,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        loader.fetch = { url in
            fetched.continuation.yield(url)
            return Self.keySet(key)
        }
        // No interval ends.
        loader.pause = { _ in try await Awaited<Void>().value }
        let running = Task { [loader] in await loader.run() }
        var urls = fetched.stream.makeAsyncIterator()
        let first = await urls.next()
        var access = Self.access()
        access.webTokens.keySetURL = "https://other.example/jwks"
        _ = try fixture.services.access.load(access)
        let second = await urls.next()
        #expect([first, second] == [Self.url, "https://other.example/jwks"])
        running.cancel()
        await running.value
    }

    @Test(arguments: [
        ("https://id.example/jwks", true), ("http://127.0.0.1:8080/jwks", true), ("http://localhost/jwks", true),
        ("http://id.example/jwks", false), ("ftp://id.example", false), ("id.example", false),
        ("https://user@id.example/", false), ("https:///x", false),
    ])
    func keysComeEncryptedOrFromThisMachine(url: String, expected: Bool) {
        #expect(KeySetLoader.accepts(url) == expected)
    }
}
