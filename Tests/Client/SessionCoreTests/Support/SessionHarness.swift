internal import SessionCore
internal import TLCP
internal import Testing

/// Runs a session machine against a scripted server and a virtual clock, and records its actions.
///
/// The trace has one entry for each action: `open ws <address>`, `POST <request> <body>`, `> <WebSocket message>`,
/// `T: <timer> <milliseconds>`, `S: <status>`, `close`, and so on. Cancelled timers leave no entry.
final class SessionHarness {
    private var machine: SessionMachine
    private(set) var now = Moment.zero
    /// The random number of every context.
    var random = 0.999_999
    private(set) var trace: [String] = []
    private(set) var timers: [SessionTimer: Moment] = [:]
    private(set) var orders: [ConnectionID: TransportRequest] = [:]
    private(set) var openConnections: Set<ConnectionID> = []
    private(set) var events: [SessionEvent] = []
    /// The newest WebSocket, stream or poll.
    private(set) var stream = ConnectionID(0)
    /// The newest control request.
    private(set) var control = ConnectionID(0)
    private var options: ConnectionOptionValues

    typealias OptionChange = (inout ConnectionOptionValues) -> Void

    /// A client with the options of today's official clients, which the golden traces assume, and these changes.
    init(
        _ changeOptions: OptionChange = { _ in },
        details: (inout ConnectionDetailValues) -> Void = { _ in },
        configuration: (inout SessionConfiguration) -> Void = { _ in }
    ) {
        options = ConnectionOptionValues()
        options.retryDelay = 4
        options.slowingEnabled = false
        changeOptions(&options)
        var detailValues = ConnectionDetailValues()
        detailValues.serverAddress = "http://server"
        details(&detailValues)
        var configurationValues = SessionConfiguration()
        configurationValues.clientIdentifier = "CID"
        configuration(&configurationValues)
        machine = SessionMachine(options: options, details: detailValues, configuration: configurationValues)
    }

    var status: ClientStatus { machine.status }
    private var context: EventContext { EventContext(now: now, random: random) }

    // MARK: - The user

    func connect() { perform(machine.connectRequested(at: context)) }
    func disconnect() { perform(machine.disconnectRequested(at: context)) }

    /// Adopts a session with the subscription 1.
    func adopt(_ id: String, address: String, processed: Int, number: Int, _ table: ValueTable) {
        let subscription = AdoptedSubscription(token: SubscriptionToken(1), number: number, table: table)
        let session = OfferedSession(id: id, address: address, processed: processed)
        perform(machine.adopt(session, [subscription], at: context))
    }

    func abandon() { perform(machine.abandon(at: context)) }

    func setOptions(_ change: (inout ConnectionOptionValues) -> Void) {
        for case .propertyChanged(let property) in events { options.take(property) }
        change(&options)
        perform(machine.optionsChanged(options, at: context))
    }

    func setDetails(_ details: ConnectionDetailValues) { perform(machine.detailsChanged(details, at: context)) }

    func subscribe(_ number: UInt64, item: String, mode: SubscriptionMode = .merge) {
        let properties = SubscriptionProperties(mode: mode, items: .list([item]), fields: .list(["f"]))
        perform(machine.subscribe(SubscriptionToken(number), properties, at: context))
    }

    func unsubscribe(_ number: UInt64) { perform(machine.unsubscribe(SubscriptionToken(number), at: context)) }

    func sendMessage(_ number: UInt64, _ text: String, enqueues: Bool = false) {
        let token = MessageToken(number)
        let message = PendingMessage(token, text: text, sequence: "seq", delayTimeout: nil, hasDelegate: true)
        perform(machine.sendMessage(message, enqueueWhileDisconnected: enqueues, at: context))
    }

    func changeToken(_ token: String, from previous: String? = nil) {
        let registration = MPNRegisterRequest(
            platform: "Apple",
            appID: "app",
            deviceToken: previous ?? token,
            newDeviceToken: previous == nil ? nil : token
        )
        perform(machine.deviceTokenChanged(registration, at: context))
    }

    func resetBadge() { perform(machine.badgeResetRequested(at: context)) }

    // MARK: - The server and the network

    /// The WebSocket that was requested last opens, and the server sends lines on it.
    func open(_ lines: String...) {
        perform(machine.transportOpened(stream, at: context))
        for line in lines { receive(line, on: stream) }
    }

    /// The newest WebSocket has too many unwritten bytes, or no longer.
    func fill(_ isFull: Bool) { perform(machine.socketFilled(stream, isFull: isFull, at: context)) }

    /// Lines on the newest stream connection.
    func receive(_ lines: String...) {
        for line in lines { receive(line, on: stream) }
    }

    func receive(_ line: String, on connection: ConnectionID) {
        perform(machine.received(connection, lines: [Array(line.utf8)[...]], at: context))
    }

    /// All lines in one call.
    func receiveBatch(_ lines: [String]) {
        perform(machine.received(stream, lines: lines.map { Array($0.utf8)[...] }, at: context))
    }

    /// A whole response on the newest control connection.
    func respond(_ lines: String...) {
        let connection = control
        for line in lines { receive(line, on: connection) }
        close(connection, .completed)
    }

    /// The stream breaks, and a pause in milliseconds passes.
    func breakStream(pause: Int = 0) {
        close(stream, .failed(reason: "broken"))
        if pause > 0 { advance(pause) }
    }

    func completeStream() { close(stream, .completed) }
    func breakControl() { close(control, .failed(reason: "broken")) }

    /// A proxy refuses the control request; the stream works, and the pause before the next request passes.
    func refuseControl(status: Int) {
        close(control, .refused(reason: "HTTP status \(status)"))
        receive("PROBE")
        advance(4000)
    }

    func close(_ connection: ConnectionID, _ closure: TransportEnd) {
        openConnections.remove(connection)
        perform(machine.transportClosed(connection, closure, at: context))
    }

    /// Lets time pass, and timers fire.
    func advance(_ milliseconds: Int) {
        let end = now + .milliseconds(milliseconds)
        while let (timer, due) = timers.filter({ $0.value <= end }).min(by: { $0.value < $1.value }) {
            now = max(now, due)
            timers[timer] = nil
            perform(machine.timerFired(timer, at: context))
        }
        now = end
    }

    /// A timer fires that may have been cancelled.
    func fire(_ timer: SessionTimer) { perform(machine.timerFired(timer, at: context)) }

    // MARK: - The trace

    /// The trace since the last call.
    func takeTrace() -> [String] {
        defer { trace = [] }
        return trace
    }

    /// The trace since the last call, without timers.
    func takeConversation() -> [String] { takeTrace().filter { !$0.hasPrefix("T: ") } }

    /// The status changes since the last call.
    func takeStatuses() -> [String] { takeTrace().filter { $0.hasPrefix("S: ") } }

    /// The requests since the last call, on any connection.
    func takeRequests() -> [String] { takeTrace().filter { $0.hasPrefix("> ") || $0.hasPrefix("POST ") } }

    /// Milliseconds until a timer fires; nil: it is not running.
    func remaining(_ purpose: SessionTimer.Purpose) -> Int? {
        let due = timers.first { $0.key.purpose == purpose }?.value
        return due.map { Int(($0 - now).clampedNanoseconds / 1_000_000) }
    }

    private func perform(_ actions: [SessionAction]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: SessionAction) {
        switch action {
        case .openTransport(let connection, let order):
            orders[connection] = order
            openConnections.insert(connection)
            if order.kind == .httpControl { control = connection } else { stream = connection }
            trace.append(Self.describe(order))
        case .send(let connection, let bytes):
            #expect(openConnections.contains(connection))
            trace.append("> " + Self.text(bytes))
        case .closeTransport(let connection):
            #expect(openConnections.remove(connection) != nil)
            trace.append("close")
        case .releaseTransport(let connection):
            #expect(openConnections.remove(connection) != nil)
            trace.append("release")
        case .scheduleTimer(let timer, let delay):
            timers[timer] = now + delay
            trace.append("T: \(timer.purpose) \(delay.clampedNanoseconds / 1_000_000)")
        case .cancelTimer(let timer):
            timers[timer] = nil
        case .notify(let event):
            events.append(event)
            if let text = Self.describe(event) { trace.append(text) }
        case .numbered(let number):
            trace.append("#\(number)")
        case .rememberVersion(let version, let address):
            trace.append("remember \(version) \(address)")
        case .log(let note):
            trace.append("note \(note)")
        }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
            .joined(separator: "|")
    }

    private static func describe(_ order: TransportRequest) -> String {
        guard let request = order.request else { return "open ws \(order.address)" }
        let target = request.target.replacing("/lightstreamer/", with: "").replacing("LS_protocol=TLCP-2.5.0", with: "")
            .replacing(".txt?", with: "")
        let address = order.address == "http://server" ? "" : "\(order.address) "
        return "POST \(address)\(target) \(text(request.body))"
    }

    private static func describe(_ event: SessionEvent) -> String? {
        switch event {
        case .statusChanged(let status): "S: \(status.rawValue)"
        case .serverError(let code, let message): "error \(code) \(message)"
        case .propertyChanged(let change): "P: \(change)"
        case .subscription(let token, let event): "sub\(token.rawValue) \(name(event))"
        case .message(let token, let outcome): "msg\(token.rawValue) \(outcome)"
        case .messageReleased(let token): "msg\(token.rawValue) released"
        case .legacy: nil
        }
    }

    private static func name(_ event: SubscriptionEvent) -> String {
        switch event {
        case .subscribed: "subscribed"
        case .unsubscribed(let isFinal): isFinal ? "removed" : "unsubscribed"
        case .update(let update): "update \(update.value(at: 1) ?? "nil")"
        case .failed(let code, _): "failed \(code)"
        default: "\(event)"
        }
    }

    /// The legacy events so far.
    var legacyEvents: [LegacyEvent] {
        events.compactMap { if case .legacy(let event) = $0 { event } else { nil } }
    }
}
