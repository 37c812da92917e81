internal import DemoServer

/// A server machine without sockets, its virtual clock, and all written lines.
final class ServerBench {
    var machine: DemoServerMachine
    private(set) var now = Duration.zero
    private(set) var answers: [LinkID: HTTPAnswer] = [:]
    private(set) var streams: Set<LinkID> = []
    private(set) var ended: [LinkID: Bool] = [:]
    private(set) var closed: [LinkID: Int] = [:]
    private(set) var cut: Set<LinkID> = []
    private(set) var deaf: Set<LinkID> = []
    private(set) var writes: [LinkID: [[UInt8]]] = [:]

    private var unread: [LinkID: [UInt8]] = [:]
    private var lastLink = 0

    init(_ configuration: DemoServerConfiguration = ServerBench.still()) {
        machine = DemoServerMachine(configuration, identitySeed: 7)
    }

    /// A server with manual feeds: `QUOTES`, `PORTFOLIO`, `NEWS`, `EVENTS`.
    static func still(_ change: (inout DemoServerConfiguration) -> Void = { _ in }) -> DemoServerConfiguration {
        var configuration = DemoServerConfiguration()
        configuration.serverName = "Embedded test server"
        configuration.feeds.isMoving = false
        configuration.manualFeeds = [
            "QUOTES": ManualFeedConfiguration(items: ["item1", "item2"], fields: ["name", "price"]),
            "PORTFOLIO": ManualFeedConfiguration(
                items: ["portfolio1"],
                fields: ["key", "command", "qty"],
                mode: .command
            ),
            "NEWS": ManualFeedConfiguration(items: ["news"], fields: ["headline"], mode: .distinct),
            "EVENTS": ManualFeedConfiguration(items: ["events"], fields: ["text"], mode: .raw),
        ]
        change(&configuration)
        return configuration
    }

    // MARK: Requests of clients

    func openWebSocket(subprotocol: String? = "TLCP-2.5.0.lightstreamer.com") -> LinkID {
        let link = nextLink()
        perform(machine.webSocketOpened(link, subprotocol: subprotocol, from: "127.0.0.1", at: now))
        return link
    }

    /// Sends a message; returns the connection, whose lines may be the response.
    @discardableResult
    func say(_ message: String, on link: LinkID) -> LinkID {
        let bytes = Array(
            message.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n").utf8
        )
        perform(machine.received(message: bytes, on: link, at: now))
        return link
    }

    @discardableResult
    func post(
        _ name: String,
        _ body: String,
        query: String = "LS_protocol=TLCP-2.5.0",
        method: String = "POST",
        connectedAt opening: Duration? = nil
    ) -> LinkID {
        let link = nextLink()
        let bytes = Array(body.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n").utf8)
        let path = name.hasPrefix("/") ? name : "/lightstreamer/\(name).txt"
        let request = HTTPRequestText(method: method, path: path, query: query, body: bytes)
        perform(machine.requested(request, on: link, from: "127.0.0.1", connectedAt: opening, at: now))
        return link
    }

    func hangUp(_ link: LinkID) {
        perform(machine.closed(link, at: now))
    }

    func setWritable(_ isWritable: Bool, _ link: LinkID) {
        perform(machine.writabilityChanged(of: link, to: isWritable, at: now))
    }

    // MARK: Other events

    func publish(_ item: String, _ values: [String?], to adapter: String) {
        perform(machine.published(.publish(item: item, values: values), to: adapter, at: now))
    }

    func order(_ order: FeedRequest, to adapter: String) {
        perform(machine.published(order, to: adapter, at: now))
    }

    func install(_ faults: Fault...) {
        perform(machine.faultsInstalled(faults, at: now))
    }

    func shutDown() {
        perform(machine.shutDown(at: now))
    }

    /// Lets time pass; each deadline is handled at its instant.
    func advance(by time: Duration) {
        let end = now + time
        while let due = machine.nextDeadline, due <= end {
            now = max(now, due)
            perform(machine.timePassed(at: now))
        }
        now = end
    }

    // MARK: Written lines

    /// The lines written on a connection since the last call; an incomplete line is kept.
    func lines(_ link: LinkID) -> [String] {
        var bytes = unread[link] ?? []
        if let answer = answers[link], unread[link] == nil { bytes = answer.body }
        var lines: [String] = []
        while let end = bytes.firstIndex(of: 0x0A) {
            lines.append(String(decoding: bytes[..<end].filter { $0 != 0x0D }, as: UTF8.self))
            bytes.removeFirst(end + 1)
        }
        unread[link] = bytes
        return lines
    }

    /// The HTTP status of an answer; nil if there is none.
    func status(_ link: LinkID) -> Int? {
        answers[link]?.status
    }

    /// Bytes after the last complete line.
    func remainder(_ link: LinkID) -> String {
        String(decoding: unread[link] ?? [], as: UTF8.self)
    }

    private func nextLink() -> LinkID {
        lastLink += 1
        return LinkID(lastLink)
    }

    private func perform(_ actions: [ServerAction]) {
        for action in actions {
            switch action {
            case .respond(let link, let answer): answers[link] = answer
            case .openStream(let link): streams.insert(link)
            case .write(let link, let bytes, _):
                unread[link, default: []] += bytes
                writes[link, default: []].append(bytes)
            case .endStream(let link, let closesSocket): ended[link] = closesSocket
            case .close(let link, let code): closed[link] = code
            case .cut(let link): cut.insert(link)
            case .stopReading(let link): deaf.insert(link)
            }
        }
    }
}

extension ServerBench {
    static let create = "create_session\nLS_adapter_set=DEMO&LS_cid=x&LS_send_sync=false"

    /// A server, a WebSocket with a streaming session on it, whose head has been read, and the ID of the session.
    static func withSession(
        _ configuration: DemoServerConfiguration = ServerBench.still()
    ) -> (bench: ServerBench, link: LinkID, session: String) {
        let bench = ServerBench(configuration)
        let (link, session) = bench.openSession()
        return (bench, link, session)
    }

    /// A server, and the ID of a session made by an HTTP poll, not bound to anything.
    static func withPollSession(
        _ configuration: DemoServerConfiguration = ServerBench.still()
    ) -> (bench: ServerBench, session: String) {
        let bench = ServerBench(configuration)
        return (bench, bench.pollSession())
    }

    /// A WebSocket with a streaming session on it; its head has been read.
    func openSession(_ parameters: String = "") -> (link: LinkID, session: String) {
        let link = openWebSocket()
        say("wsok", on: link)
        say(ServerBench.create + parameters, on: link)
        let greeting = lines(link).first { $0.hasPrefix("CONOK") } ?? ""
        return (link, String(greeting.split(separator: ",").dropFirst().first ?? ""))
    }

    /// A session made by an HTTP poll, not bound to anything.
    func pollSession(pause: Int = 0) -> String {
        let link = post(
            "create_session",
            "LS_adapter_set=DEMO&LS_cid=x&LS_polling=true&LS_polling_millis=\(pause)&LS_idle_millis=0"
        )
        let greeting = lines(link).first ?? ""
        return String(greeting.split(separator: ",").dropFirst().first ?? "")
    }

    /// Binds a session to an HTTP poll that may wait for data up to `idle` and requests a pause, both in milliseconds.
    func poll(_ session: String, idle: Int = 0, pause: Int = 0) -> LinkID {
        let times = "&LS_polling_millis=\(pause)&LS_idle_millis=\(idle)"
        return post("bind_session", "LS_session=\(session)&LS_polling=true\(times)")
    }

    /// Subscribes on a WebSocket and returns the lines.
    func subscribe(
        _ link: LinkID,
        _ id: Int,
        mode: String = "MERGE",
        group: String = "item1",
        schema: String = "name%20price",
        adapter: String = "QUOTES",
        _ more: String = "&LS_snapshot=true"
    ) -> [String] {
        say(
            "control\nLS_reqId=\(id)&LS_op=add&LS_subId=\(id)&LS_mode=\(mode)&LS_group=\(group)&LS_schema=\(schema)"
                + "&LS_data_adapter=\(adapter)&LS_ack=false\(more)",
            on: link
        )
        return lines(link)
    }

    /// Subscribes to an item in DISTINCT mode and returns the lines.
    @discardableResult
    func subscribeList(
        _ link: LinkID,
        _ item: String,
        schema: String,
        adapter: String,
        _ more: String = "&LS_snapshot=true"
    ) -> [String] {
        subscribe(link, 1, mode: "DISTINCT", group: item, schema: schema, adapter: adapter, more)
    }

    /// Subscribes to the table of the feed `PORTFOLIO` in COMMAND mode and returns the lines.
    @discardableResult
    func subscribePortfolio(_ link: LinkID, _ id: Int, _ more: String = "&LS_snapshot=true") -> [String] {
        subscribe(
            link,
            id,
            mode: "COMMAND",
            group: "portfolio1",
            schema: "key%20command%20qty",
            adapter: "PORTFOLIO",
            more
        )
    }
}
