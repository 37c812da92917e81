internal import Primitives
internal import Testing

@testable internal import TLCPTransports

@Suite struct AuthenticationTests {
    /// The server is a proxy.
    private static func useProxy(_ settings: inout SocketSettings, port: Int) {
        settings.proxy = ProxySettings(host: "127.0.0.1", port: port)
    }

    @Test func passwordOfAChallengeIsUsedAndStored() async throws {
        let script: @Sendable (Int, Peer) async throws -> Void = { _, peer in
            while true {
                let request = try await peer.request()
                if request.headers["authorization"] == "Basic bWlhOnA6dw==" {
                    try await peer.respond("200 OK", body: "REQOK\r\n")
                } else {
                    try await peer.respond("401 Unauthorized", headers: "WWW-Authenticate: Basic realm=\"here\"\r\n")
                }
            }
        }
        let (challenges, asked) = AsyncStream<AuthenticationChallenge.Kind>.makeStream()
        try await ScriptedServer.run(script: script) { server in
            let connector = try SocketConnector(
                .forTests {
                    $0.canAuthenticate = { true }
                    $0.authenticate = { challenge in
                        asked.yield(challenge.kind)
                        challenge.answer(.use(.password(user: "mia", password: "p:w")))
                        challenge.answer(.cancel)
                    }
                }
            )
            for _ in 1...2 {
                let (lines, end) = await Opened(connector, .to(server.port)).rest()
                #expect(lines == ["REQOK"])
                #expect(end == .completed)
            }
            await connector.shutDown()
        }
        asked.finish()
        #expect(await challenges.all() == [.server(schemes: ["Basic"], realm: "here")])
    }

    @Test(arguments: [
        "Basic realm=\"here\"", "Negotiate, Digest realm=\"a,b\", nonce=\"n\", qop=\"auth,auth-int\", Basic",
    ])
    func configuredCredentialsAnswerChallenges(offer: String) async throws {
        try await ScriptedServer.run { _, peer in
            while true {
                let request = try await peer.request()
                guard let header = request.headers["authorization"] else {
                    try await peer.respond("401 Unauthorized", headers: "WWW-Authenticate: \(offer)\r\n")
                    continue
                }
                try await peer.respond("200 OK", body: "\(header)\r\n")
            }
        } _: { server in
            let connector = try SocketConnector(
                .forTests { $0.credentials = HTTPCredentials(user: "mia", password: "p:w", host: "127.0.0.1") }
            )
            var headers: [String] = []
            for _ in 1...2 { headers += await Opened(connector, .to(server.port)).rest().lines }
            if offer.hasPrefix("Basic") {
                #expect(headers == ["Basic bWlhOnA6dw==", "Basic bWlhOnA6dw=="])
            } else {
                #expect(
                    headers.allSatisfy { $0.hasPrefix("Digest username=\"mia\", realm=\"a,b\", nonce=\"n\", uri=\"/") }
                )
                #expect(headers.map { $0.contains("nc=00000001") } == [true, false])
                #expect(headers.map { $0.contains("nc=00000002") } == [false, true])
            }
            await connector.shutDown()
        }
    }

    @Test(arguments: [nil, "elsewhere.example"])
    func rejectedOrForeignCredentialsAreNotSentAgain(host: String?) async throws {
        let (requests, record) = AsyncStream<String>.makeStream()
        try await ScriptedServer.runWithConnector({ settings, _ in
            settings.credentials = HTTPCredentials(user: "mia", password: "wrong", host: host)
        }) { _, peer in
            record.yield(try await peer.request().headers["authorization"] ?? "none")
            try await peer.respond("401 Unauthorized", headers: "WWW-Authenticate: Basic\r\n")
        } _: { server, connector in
            #expect(await Opened(connector, .to(server.port)).rest().end == .unauthorized)
        }
        record.finish()
        #expect(await requests.all() == (host == nil ? ["none", "Basic bWlhOndyb25n"] : ["none"]))
    }

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func digestMatchesTheExamplesOfItsSpecification(algorithm: String, response: String) throws {
        let header = """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """
        let schemes = AuthenticationScheme.parse([header])
        #expect(schemes.map(\.realm) == ["http-auth@example.org"])
        var digest = try #require(DigestAuthentication(schemes, user: "Mufasa", password: "Circle of Life"))
        let nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        let answer = digest.header(method: "GET", target: "/dir/index.html", clientNonce: nonce)
        #expect(answer.contains("response=\"\(response)\", algorithm=\(algorithm), opaque="))
        #expect(answer.hasSuffix("qop=auth, nc=00000001, cnonce=\"\(nonce)\""))
    }

    /// The responses were computed with Python's hashlib, and those of the second answer from the first client nonce.
    @Test(arguments: [
        ("md5-sess", "MD5-sess", "20ff0f64a59057f3c015a627faf08736", "9c97afe4c92f7f7d22fabcf9862b12af"),
        (
            "SHA-256-sess", "SHA-256-sess", "f0cb905e783fda9e425fde844a90f6e23e2b265e486c6ad0dfc73d109a771db4",
            "e44fe00b235ad7a26688c81d6077214692977067d1edbc94be4f41f3c5ba85e9"
        ),
    ])
    func keyOfADigestSessionHasTheNoncesOfItsBeginning(
        offered: String,
        algorithm: String,
        first: String,
        second: String
    ) throws {
        let offer = "Digest realm=\"here\", nonce=\"n\", qop=\"auth\", algorithm=\(offered)"
        let schemes = AuthenticationScheme.parse([offer])
        var digest = try #require(DigestAuthentication(schemes, user: "mia", password: "p:w"))
        let answers = ["c1", "c2"].map { digest.header(method: "POST", target: "/x", clientNonce: $0) }
        for (answer, expected) in zip(answers, [(first, 1), (second, 2)]) {
            #expect(answer.contains("response=\"\(expected.0)\", algorithm=\(algorithm), qop=auth"))
            #expect(answer.hasSuffix("nc=0000000\(expected.1), cnonce=\"c1\""))
        }
    }

    @Test func digestSessionsWithoutQualityOfProtectionAreNotAnswered() {
        let schemes = AuthenticationScheme.parse(["Digest realm=\"here\", nonce=\"n\", algorithm=MD5-sess"])
        #expect(DigestAuthentication(schemes, user: "mia", password: "p") == nil)
    }

    @Test func withoutADelegateTheRefusalIsFinal() async throws {
        try await ScriptedServer.runWithConnector { _, peer in
            _ = try await peer.request()
            try await peer.respond("401 Unauthorized", headers: "WWW-Authenticate: Basic\r\n")
        } _: { server, connector in
            #expect(await Opened(connector, .to(server.port)).rest().end == .unauthorized)
        }
    }

    @Test func wrongPasswordsAreAskedForABoundedNumberOfTimes() async throws {
        let script: @Sendable (Int, Peer) async throws -> Void = { _, peer in
            _ = try await peer.request()
            try await peer.respond("401 Unauthorized", headers: "WWW-Authenticate: Basic\r\n")
        }
        let (counts, asked) = AsyncStream<Int>.makeStream()
        try await ScriptedServer.run(script: script) { server in
            let connector = try SocketConnector(
                .forTests {
                    $0.canAuthenticate = { true }
                    $0.authenticate = { challenge in
                        asked.yield(challenge.previousFailureCount)
                        challenge.answer(.use(.password(user: "mia", password: "wrong")))
                    }
                }
            )
            #expect(await Opened(connector, .to(server.port)).rest().end == .unauthorized)
            await connector.shutDown()
        }
        asked.finish()
        #expect(await counts.all() == [0, 1, 2, 3, 4])
    }

    /// The proxy accepts each nonce once.
    @Test func aProxyAndTheServerBehindTheProxyAreAnsweredInOneExchange() async throws {
        let script: @Sendable (Int, Peer) async throws -> Void = { number, peer in
            let headers = try await peer.request().headers
            if headers["proxy-authorization"]?.contains("nonce=\"n\(number - 1)\"") != true {
                let offer = "Digest realm=\"proxy\", nonce=\"n\(number)\", qop=\"auth\", stale=\(number > 1)"
                try await peer.respond("407 Unauthorized", headers: "Proxy-Authenticate: \(offer)\r\n")
            } else if headers["authorization"] == nil {
                try await peer.respond("401 Unauthorized", headers: "WWW-Authenticate: Basic realm=\"server\"\r\n")
            } else {
                try await peer.respond("200 OK", body: "REQOK\r\n")
            }
        }
        try await ScriptedServer.run(script: script) { server in
            let connector = try SocketConnector(
                .forTests {
                    $0.proxy = ProxySettings(host: "127.0.0.1", port: server.port, user: "pat", password: "p")
                    $0.credentials = HTTPCredentials(user: "mia", password: "p:w")
                }
            )
            let (lines, end) = await Opened(connector, .to(8080)).rest()
            #expect(lines == ["REQOK"])
            #expect(end == .completed)
            await connector.shutDown()
        }
    }

    @Test func aPeerThatCallsEachNonceStaleIsAnsweredABoundedNumberOfTimes() async throws {
        let (requests, record) = AsyncStream<Bool>.makeStream()
        let script: @Sendable (Int, Peer) async throws -> Void = { number, peer in
            record.yield(try await peer.request().headers["authorization"] != nil)
            let offer = "Digest realm=\"server\", nonce=\"n\(number)\", qop=\"auth\", stale=TRUE"
            try await peer.respond("401 Unauthorized", headers: "WWW-Authenticate: \(offer)\r\n")
        }
        try await ScriptedServer.run(script: script) { server in
            let credentials = HTTPCredentials(user: "mia", password: "p:w")
            let connector = try SocketConnector(.forTests { $0.credentials = credentials })
            #expect(
                await Opened(connector, .to(server.port)).rest().end
                    == .refused(reason: "HTTP status 401", kind: .unauthorized, status: 401)
            )
            await connector.shutDown()
        }
        record.finish()
        var answered: [Bool] = []
        for await isAnswered in requests { answered.append(isAnswered) }
        #expect(answered == [false, true, true, true])
    }

    @Test func plainRequestsGoThroughAProxyInAbsoluteForm() async throws {
        let (requests, record) = AsyncStream<Peer.Request>.makeStream()
        try await ScriptedServer.runWithConnector({
            $0.proxy = ProxySettings(host: "127.0.0.1", port: $1, user: "u", password: "p")
        }) { _, peer in
            record.yield(try await peer.request())
            try await peer.respond("200 OK", body: "REQOK\r\n")
        } _: { _, connector in
            let order = ConnectionRequest.to(8080, host: "push.invalid", target: "/x")
            #expect(await Opened(connector, order).rest().lines == ["REQOK"])
            let request = await requests.first { _ in true }
            #expect(request?.line == "POST http://push.invalid:8080/x HTTP/1.1")
            #expect(request?.headers["proxy-authorization"] == "Basic dTpw")
        }
    }

    @Test func webSocketsGoThroughAProxyByConnect() async throws {
        let (requests, record) = AsyncStream<Peer.Request>.makeStream()
        try await ScriptedServer.runWithConnector(Self.useProxy) { _, peer in
            record.yield(try await peer.request())
            try await peer.send("HTTP/1.1 200 Connection established\r\n\r\n")
            record.yield(try await peer.acceptWebSocket(then: Peer.frame(1, "WSOK\r\n".utf8)))
            try await peer.closed()
        } _: { _, connector in
            let opened = Opened(connector, .to(443, .webSocket, host: "push.invalid"))
            #expect(await opened.lines() == ["WSOK"])
            opened.transport.close()
            var iterator = requests.makeAsyncIterator()
            #expect(await iterator.next()?.line == "CONNECT push.invalid:443 HTTP/1.1")
            #expect(await iterator.next()?.line == "GET /lightstreamer HTTP/1.1")
        }
    }

    /// It could request the password of the proxy in another scheme, and its user from the delegate.
    @Test func aServerBehindATunnelRequestsNoCredentialsOfTheProxy() async throws {
        let script: @Sendable (Int, Peer) async throws -> Void = { _, peer in
            _ = try await peer.request()
            try await peer.send("HTTP/1.1 200 Connection established\r\n\r\n")
            _ = try await peer.request()
            try await peer.respond("407 Proxy Authentication Required", headers: "Proxy-Authenticate: Basic\r\n")
        }
        let (challenges, asked) = AsyncStream<AuthenticationChallenge.Kind>.makeStream()
        try await ScriptedServer.run(script: script) { server in
            let connector = try SocketConnector(
                .forTests {
                    $0.proxy = ProxySettings(host: "127.0.0.1", port: server.port)
                    $0.canAuthenticate = { true }
                    $0.authenticate = { challenge in
                        asked.yield(challenge.kind)
                        challenge.answer(.cancel)
                    }
                }
            )
            let (_, end) = await Opened(connector, .to(443, .webSocket, host: "push.invalid")).rest()
            let kind = FailureKind(httpStatus: 407)
            #expect(end == .failed(reason: "HTTP status 407", kind: kind, status: 407))
            await connector.shutDown()
        }
        asked.finish()
        #expect(await challenges.all().isEmpty)
    }

    @Test func proxyThatRefusesIsAFailure() async throws {
        try await ScriptedServer.runWithConnector(Self.useProxy) { _, peer in
            _ = try await peer.request()
            try await peer.respond("403 Forbidden")
        } _: { _, connector in
            let (_, end) = await Opened(connector, .to(443, .webSocket, host: "push.invalid")).rest()
            #expect(end == .failed(reason: "the proxy answered with HTTP status 403", kind: .proxy, status: 403))
        }
    }

    @Test func proxyThatCannotBeReachedIsAFailureOfTheProxy() async throws {
        let port = try await ScriptedServer.run(script: { _, _ in }) { $0.port }
        let connector = try SocketConnector(.forTests { $0.proxy = ProxySettings(host: "127.0.0.1", port: port) })
        let (_, end) = await Opened(connector, .to(80, host: "push.invalid")).rest()
        let reason = "the proxy failed: cannot connect to 127.0.0.1, port \(port)"
        #expect(end == .unreachable(reason: reason, kind: .proxy))
        await connector.shutDown()
    }

    @Test func proxyThatClosesTheConnectionIsAFailureOfTheProxy() async throws {
        try await ScriptedServer.runWithConnector(Self.useProxy) { _, peer in
            _ = try await peer.request()
        } _: { _, connector in
            let (_, end) = await Opened(connector, .to(443, .webSocket, host: "push.invalid")).rest()
            #expect(end == .failed(reason: "the proxy failed: closed early: proxy", kind: .proxy))
        }
    }
}
