internal import Glibc
internal import MicroHTTPD
internal import StreamIO
internal import Testing

@Suite struct SharedWaitTests {
    private static let next = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n"
    private static let largeSize = 3_000_000

    /// A response with a large body.
    private static func large(_ response: HTTPResponse) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: response.headers,
            body: .bytes([UInt8](repeating: 7, count: largeSize))
        )
    }

    @Test func equalPollsGetOneAnswer() throws {
        let polls = try PollingClients(12)
        let value = polls.value
        for tag in 2...4 {
            let before = value.present.joined
            try polls.poll("\(tag)")
            #expect(value.present.joined - before == 10)
            #expect(value.change() == 1)
            let responses = try polls.clients.map { try $0.readResponse() }
            #expect(responses.allSatisfy { $0.status == 200 && $0.header("ETag") == "\(tag + 1)" })
            #expect(Set(responses.compactMap { $0.header("X-Number") }).count == 10)
            #expect(responses[..<2].allSatisfy { $0.text == "*/* alone" })
            #expect(responses[2...].allSatisfy { $0.text == "*/* together" })
        }
        #expect(value.present == TestValue.Counts(joined: 30, answered: 30, ended: 3))
        // The observer has one as well.
        #expect(polls.server.daemon.figures.connections == 13)
    }

    @Test func sharedResponsesAreThoseOfTheLibrary() throws {
        let polls = try PollingClients(12)
        for (tag, status) in [(2, 200), (3, 204), (4, 304), (5, 404), (6, 200)] {
            func response(_ version: HTTPResponse) -> HTTPResponse {
                var headers = version.headers
                for (name, value) in [("Vary", "Accept"), ("vary", "Origin"), ("Bad\r\n", "x")] {
                    headers.append(name, value)
                }
                if tag == 6 { headers.append("Connection", "close") }
                let body: HTTPResponse.Body = status == 204 ? .empty : status == 304 ? .omitted(7) : .bytes([65])
                return HTTPResponse(status: status, headers: headers, body: body)
            }
            try polls.poll("\(tag)")
            polls.value.change({ .same(response($0)) }, alone: response)
            let responses = try polls.clients.map { client in
                let response = try client.readResponse(hasBody: status != 304)
                let lines = response.headers.filter { !["X-Number", "Date"].contains($0.name) }
                let date = response.header("Date") == nil ? "no date" : "date"
                return [response.statusLine, response.text, date] + lines.map { "\($0.name): \($0.value)" }.sorted()
            }
            #expect(Set(responses).count == 1, "\(responses[0]) \(responses[11])")
        }
        for client in polls.clients { #expect(client.isClosedByServer()) }
        #expect(polls.value.present.answered == 50)
    }

    @Test func otherRepresentationsGetTheirOwnAnswers() throws {
        let polls = try PollingClients(20)
        let types = ["text/plain", "text/csv"]
        try polls.send { TestValue.poll("2", accept: types[$0 % 2]) }
        // Alone are the first one, and the second and third ones, which begin the waits of both types.
        #expect(polls.value.present.joined == 17)
        #expect(polls.value.change() == 2)
        for (number, client) in polls.clients.enumerated() {
            #expect(try client.readResponse().text == types[number % 2] + (number < 3 ? " alone" : " together"))
        }
    }

    @Test func aPollBesideAClosedWaitBeginsAnotherOne() throws {
        let polls = try PollingClients(6, TestValue(isClosed: true))
        try polls.poll("2")
        #expect(polls.value.present.joined == 0)
        // Each of them begins another wait, which the next one tries to join.
        #expect(polls.value.change() == 5)
        for client in polls.clients { #expect(try client.readResponse().text == "*/* alone") }
    }

    @Test func anAnswerForEachRequestIsSentToEach() throws {
        let polls = try PollingClients(6)
        try polls.poll("2")
        polls.value.change { _ in
            .each { HTTPResponse(status: 404, body: .bytes(Array("\(($0 as? TestRequest)?.number ?? -1)".utf8))) }
        }
        let responses = try polls.clients.map { try $0.readResponse() }
        #expect(responses.filter { $0.status == 404 }.map(\.text).sorted() == ["0", "1", "2", "3"])
    }

    @Test func aPollIsAnsweredAfterItsLongestWait() throws {
        let polls = try PollingClients(4, TestValue(longestWait: .milliseconds(1)))
        try polls.poll("2")
        let last = polls.clients[3]
        for _ in 0..<2 {
            let response = try last.readResponse(hasBody: false)
            #expect(response.status == 304)
            #expect(response.header("Content-Length") == "7")
            try last.send(TestValue.poll("2"))
        }
    }

    @Test func aClientThatLeavesEndsItsPoll() throws {
        let polls = try PollingClients(6)
        try polls.poll("2")
        polls.removeLast()
        #expect(polls.value.waitForEvents(1))
        #expect(polls.value.change() == 1)
        for client in polls.clients { #expect(try client.readResponse().status == 200) }
        #expect(polls.value.present == TestValue.Counts(joined: 4, answered: 3, abandoned: 1, ended: 1))
    }

    @Test func otherRequestsOnTheConnectionAreHandledAsUsual() throws {
        let polls = try PollingClients(6)
        for client in polls.clients {
            #expect(try client.exchange("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n").text.hasPrefix("GET\n/a\nb\n"))
            #expect(try client.exchange("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
            let body = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"
            try client.send(body + "12")
            try client.send("3")
            #expect(try client.readResponse().text.hasSuffix("\n123"))
            try client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try client.readResponse().status == 400)
            #expect(client.isClosedByServer())
        }
    }

    @Test(arguments: [false, true]) func requestsBehindAPollAreAnsweredAfterIt(atOnce: Bool) throws {
        let polls = try PollingClients(6)
        try polls.send { _ in TestValue.poll("2") + (atOnce ? Self.next : "") }
        #expect(polls.value.present.joined == (atOnce ? 0 : 4))
        if !atOnce { for client in polls.clients { try client.send(Self.next) } }
        try polls.settle()
        polls.value.change()
        for client in polls.clients {
            #expect(try client.readResponse().header("ETag") == "3")
            #expect(try client.readResponse().text.hasPrefix("GET\n/next\n"))
        }
    }

    /// The body of a request that joined a wait would be the next request on its connection.
    @Test func pollsWithABodyDoNotShareAWait() throws {
        let polls = try PollingClients(6, TestValue(ignoresBodies: true))
        let head = TestValue.poll("2", accept: "*/*\r\nContent-Length: \(Self.next.utf8.count)")
        for client in polls.clients {
            try client.send(head)
            try polls.settle()
            try client.send(Self.next)
            #expect(polls.value.waitForEvents(1))
        }
        try polls.settle()
        #expect(polls.value.present.joined == 0)
        polls.value.change()
        for client in polls.clients {
            #expect(try client.readResponse().header("ETag") == "3")
            #expect(try client.exchange("GET /last HTTP/1.1\r\nHost: x\r\n\r\n").text.hasPrefix("GET\n/last\n"))
        }
    }

    /// The library skips the line that begins with the byte.
    @Test func aRequestBehindANULIsNotLost() throws {
        let polls = try PollingClients(6)
        let clients = try (0..<3).map { _ in try polls.server.client() }
        for client in clients {
            #expect(try client.exchange(TestValue.poll("")).header("ETag") == "2")
            try client.send(TestValue.poll("2") + "\0\r\n" + Self.next)
            #expect(polls.value.waitForEvents(1))
        }
        try polls.settle()
        polls.value.change()
        for client in clients { #expect(try client.readResponse().header("ETag") == "3") }
        let responses = try clients.map { try $0.readResponse().statusLine }
        #expect(Set(responses).count == 1, "\(responses)")
    }

    @Test func aRequestBehindAHeadOfTheGreatestSizeIsAnswered() throws {
        let polls = try PollingClients(30)
        try polls.send(to: 3..<30) { _ in TestValue.poll("2") }
        let padding = String(repeating: "a", count: 8192 - TestValue.poll("2", accept: "").utf8.count)
        try polls.send(to: 0..<3) { _ in TestValue.poll("2", accept: padding) + Self.next }
        polls.value.change()
        for client in polls.clients { #expect(try client.readResponse().header("ETag") == "3") }
        for client in polls.clients[..<3] { #expect(try client.readResponse().text.hasPrefix("GET\n/next\n")) }
    }

    @Test func bytesThatArriveAfterTheLoopHasLookedAreNotLost() throws {
        let polls = try PollingClients(30)
        try polls.send(to: 0..<29) { _ in TestValue.poll("2") }
        let last = polls.clients[29]
        // The loop sees as many bytes as the head has: an empty line and all but the last line.
        let head = TestValue.poll("2", accept: "text/csv")
        try last.send("\r\n" + head.dropLast())
        try polls.settle()
        try last.send("\r\nGET /ne")
        #expect(polls.value.waitForEvents(1))
        try last.send("xt HTTP/1.1\r\nHost: x\r\n\r\n")
        try polls.settle()
        polls.value.change()
        for client in polls.clients { #expect(try client.readResponse().header("ETag") == "3") }
        #expect(try last.readResponse().text.hasPrefix("GET\n/next\n"))
    }

    @Test func aLargeAnswerIsSentWholeAndLetGo() throws {
        weak var leaving: SharedBytes?
        do {
            var configuration = DaemonConfiguration()
            configuration.responseBudget = Self.largeSize * 4 / 3
            let polls = try PollingClients(6, TestValue(), configuration)
            try polls.poll("2")
            polls.value.change { response in
                let bytes = SharedBytes([UInt8](repeating: 7, count: Self.largeSize))
                leaving = bytes
                return .each { _ in HTTPResponse(status: 200, headers: response.headers, body: .shared(bytes)) }
            }
            let sizes = try polls.clients.map { try $0.readResponse().body.count }
            #expect(sizes.count { $0 == Self.largeSize } == 4)
            try polls.poll("3")
            polls.value.change()
            for client in polls.clients { #expect(try client.readResponse().header("ETag") == "4") }
            #expect(polls.server.daemon.figures.responses.used == 0)
        }
        #expect(leaving == nil)
    }

    @Test func theBytesOfALargeAnswerCountOnceAndAreCutOffForOthers() throws {
        var configuration = DaemonConfiguration()
        configuration.responseBudget = Self.largeSize * 4 / 3
        let polls = try PollingClients(6, TestValue(), configuration)
        try polls.poll("2")
        polls.value.change { .same(Self.large($0)) }
        for client in polls.clients[2...] { #expect(try client.readHead().status == 200) }
        #expect(try polls.clients[5].read(count: Self.largeSize).count == Self.largeSize)
        // The oldest ones are cut off for the response of a client of the library.
        #expect(try polls.clients[0].readResponse().text == "*/* alone")
        try polls.send(to: 0..<1) { _ in TestValue.poll("3") }
        polls.value.change(alone: Self.large)
        #expect(try polls.clients[0].readResponse().body.count == Self.largeSize)
        for client in polls.clients[2..<5] {
            #expect((try? client.read(count: Self.largeSize)) == nil)
        }
    }

    @Test func anAnswerBeyondTheBudgetIsRefusedToAll() throws {
        var configuration = DaemonConfiguration()
        configuration.responseBudget = Self.largeSize - 1
        let polls = try PollingClients(6, TestValue(), configuration)
        try polls.poll("2")
        polls.value.change({ .same(Self.large($0)) }, alone: Self.large)
        for client in polls.clients {
            let response = try client.readResponse()
            #expect(response.status == 503)
            #expect(response.text.contains("responseBudgetExceeded"))
            #expect(client.isClosedByServer())
        }
        #expect(polls.server.daemon.figures.responses.used == 0)
    }

    @Test func aClientThatClosesItsSideGetsTheRestOfAResponse() throws {
        let polls = try PollingClients(6)
        try polls.poll("2")
        polls.value.change({ .same(Self.large($0)) }, alone: Self.large)
        for client in polls.clients {
            #expect(try client.readHead().status == 200)
            // The request is answered as well.
            try client.send(Self.next)
            client.shutdownWriting()
        }
        try polls.settle()
        for client in polls.clients {
            #expect(try client.read(count: Self.largeSize).count == Self.largeSize)
            #expect(try client.readResponse().text.hasPrefix("GET\n/next\n"))
        }
    }

    @Test func drainingWaitsForTheRestOfAResponse() async throws {
        let polls = try PollingClients(6)
        try polls.poll("2")
        polls.value.change { .same(Self.large($0)) }
        for client in polls.clients[..<2] { #expect(try client.readResponse().status == 200) }
        try polls.settle()
        #expect(await polls.server.daemon.drain(within: .milliseconds(20)) == false)
        for client in polls.clients[2...] { #expect(try client.readResponse().body.count == Self.largeSize) }
        #expect(await polls.server.daemon.drain(within: .seconds(60)))
    }

    @Test func pollsWithDifferentHeadsReturnToTheLibrary() throws {
        let polls = try PollingClients(6)
        for tag in 2...6 {
            try polls.send { TestValue.poll("\(tag)", path: "/value/\($0)") }
            polls.value.change()
            for client in polls.clients { #expect(try client.readResponse().text == "*/* alone") }
        }
        #expect(polls.value.present.joined == 0)
    }

    @Test func waitingPollsAreEndedWithTheDaemon() throws {
        let polls = try PollingClients(6)
        try polls.poll("2")
        polls.server.daemon.close()
        for client in polls.clients {
            let response = try client.readResponse()
            #expect(response.status == 503 && response.text == #"{"code":"closing"}"#)
            #expect(response.header("X-Peer") == "127.0.0.1")
        }
        #expect(polls.value.present == TestValue.Counts(joined: 4, abandoned: 4, ended: 1))
    }
}
