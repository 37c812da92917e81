internal import DemoServer
internal import TLCP

/// The demo server accepts any WebSocket messages and HTTP requests.
///
///     input = WebSocket message NUL path NUL query NUL body NUL WebSocket message NUL …
@Sendable func fuzzDemoServer(_ input: ArraySlice<UInt8>) {
    var machine = DemoServerMachine(DemoServerConfiguration(), identitySeed: 7)
    var now = Duration.zero
    let link = LinkID(1)
    _ = machine.webSocketOpened(link, subprotocol: "TLCP-2.5.0.lightstreamer.com", from: "127.0.0.1", at: now)
    let create = "create_session\r\nLS_cid=x&LS_adapter_set=DEMO"
    _ = machine.received(message: Array(create.utf8), on: link, at: now)
    let texts = parts(of: input)
    for (index, text) in texts.enumerated() where index % 4 == 0 {
        _ = machine.received(message: Array(text), on: link, at: now)
        if index + 3 < texts.count {
            let request = HTTPRequestText(
                method: "POST",
                path: String(decoding: texts[index + 1], as: UTF8.self),
                query: String(decoding: texts[index + 2], as: UTF8.self),
                body: Array(texts[index + 3])
            )
            let other = LinkID(2 + index)
            _ = machine.requested(request, on: other, from: "127.0.0.1", connectedAt: nil, at: now)
        }
        for _ in 0..<4 {
            guard let due = machine.nextDeadline else { break }
            now = max(now, due)
            _ = machine.timePassed(at: now)
        }
    }
    _ = machine.shutDown(at: now)
}
