internal import CNATS
internal import Dispatch
internal import Glibc
package import Replication
internal import Synchronization

/// One connection to a NATS server. The library does not reconnect: a new connection inspects the log before it
/// receives messages.
///
/// `@unchecked`: the library's handles are set by `open`, before another thread has the object, and destroyed by
/// `deinit`; its calls may be made from any thread. All other state is protected by the mutex.
package final class NATSConnection: EngineConnection, @unchecked Sendable {
    private struct State {
        var requests = RequestTable()
        var isClosed = false
    }

    let configuration: NATSConfiguration
    private let process: UInt64
    private let receive: @Sendable (EngineInput) -> Void
    private let appends: String
    private let inbox = "_INBOX.\(String(UInt64.random(in: .min ... .max), radix: 36))"
    private let state = Mutex(State())
    private var handle: OpaquePointer?
    private var subscriptions: [OpaquePointer] = []

    init(configuration: NATSConfiguration, process: UInt64, receive: @escaping @Sendable (EngineInput) -> Void) {
        self.configuration = configuration
        appends = configuration.appends
        self.process = process
        self.receive = receive
    }

    deinit {
        // A thread of the library may release the last reference, and the destruction would wait for that thread.
        let subscriptions = subscriptions.map { UInt(bitPattern: $0) }
        let handle = UInt(bitPattern: handle)
        DispatchQueue.global().async {
            for subscription in subscriptions { natsSubscription_Destroy(OpaquePointer(bitPattern: subscription)) }
            natsConnection_Destroy(OpaquePointer(bitPattern: handle))
        }
    }

    // MARK: - Opening

    /// Why a connection cannot be opened, and the setting to check.
    private static func cause(of status: natsStatus) -> String {
        switch status {
        case NATS_NO_SERVER: "nothing accepts connections there. Start NATS, or correct cluster.url."
        case NATS_TIMEOUT: "it does not respond. Check cluster.url and the firewalls on the way."
        case NATS_CONNECTION_AUTH_FAILED:
            "it refuses the credentials. Check cluster.user, cluster.password and cluster.credentialsFile."
        case NATS_SECURE_CONNECTION_REQUIRED: "it requires TLS. Use tls:// in cluster.url."
        case NATS_SECURE_CONNECTION_WANTED: "it does not speak TLS. Use nats:// in cluster.url."
        case NATS_SSL_ERROR: "the TLS handshake failed. Check cluster.tls and the certificate of the server."
        default: "\(String(cString: natsStatus_GetText(status)))."
        }
    }

    /// Connects and subscribes; waits for the server.
    func open() throws {
        var options: OpaquePointer?
        try check(natsOptions_Create(&options), "options")
        defer { natsOptions_Destroy(options) }
        try apply(configuration, to: options)
        // Released by `natsClosed`, which the library calls once for each connection.
        let context = Unmanaged.passRetained(self)
        natsOptions_SetClosedCB(options, natsClosed, context.toOpaque())
        let status = natsConnection_Connect(&handle, options)
        guard status == NATS_OK else {
            context.release()
            throw EngineError.notConnected(Self.cause(of: status))
        }
        do {
            try subscribe("\(inbox).*", natsReplied)
            try subscribe(configuration.frames, natsFrameArrived)
            try subscribe(configuration.broadcasts, natsBroadcastArrived)
            try subscribe(configuration.groupRequests, natsGroupRequestArrived)
            try subscribe(configuration.calls(of: process), natsCallArrived)
            try check(natsConnection_FlushTimeout(handle, 2000), "flush")
        } catch {
            close()
            throw error
        }
    }

    private func apply(_ configuration: NATSConfiguration, to options: OpaquePointer?) throws {
        let copies = configuration.servers.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var servers = copies.map { UnsafePointer<CChar>($0) }
        try check(natsOptions_SetServers(options, &servers, Int32(servers.count)), "servers")
        try check(natsOptions_SetName(options, configuration.name), "name")
        try check(natsOptions_SetAllowReconnect(options, false), "options")
        try check(natsOptions_SetTimeout(options, 2000), "options")
        // A write that waits for the server holds the library's lock, so that other threads wait as well.
        try check(natsOptions_SetWriteDeadline(options, 2000), "options")
        try check(natsOptions_SetPingInterval(options, 1000), "options")
        try check(natsOptions_SetMaxPingsOut(options, 3), "options")
        if let user = configuration.user {
            try check(natsOptions_SetUserInfo(options, user, configuration.password ?? ""), "user")
        }
        if let file = configuration.credentialsFile {
            try check(natsOptions_SetUserCredentialsFromFiles(options, file, nil), "credentials file")
        }
        if let file = configuration.authoritiesFile {
            try check(natsOptions_LoadCATrustedCertificates(options, file), "authorities file")
        }
        if let certificate = configuration.certificateFile, let key = configuration.keyFile {
            try check(natsOptions_LoadCertificatesChain(options, certificate, key), "certificate")
        }
    }

    private func subscribe(_ subject: String, _ handler: natsMsgHandler) throws {
        var subscription: OpaquePointer?
        // Released by `natsCompleted`, which the library calls after the last message.
        let context = Unmanaged.passRetained(self)
        let status = natsConnection_Subscribe(&subscription, handle, subject, handler, context.toOpaque())
        guard status == NATS_OK, let subscription else {
            context.release()
            throw EngineError.refused("\(subject): \(String(cString: natsStatus_GetText(status)))")
        }
        natsSubscription_SetOnCompleteCB(subscription, natsCompleted, context.toOpaque())
        subscriptions.append(subscription)
    }

    private func check(_ status: natsStatus, _ subject: String) throws {
        guard status == NATS_OK else {
            throw EngineError.refused("\(subject): \(String(cString: natsStatus_GetText(status)))")
        }
    }

    package func close() {
        // The library waits for a write that is under way.
        DispatchQueue.global().async { [self] in
            if let handle { natsConnection_Close(handle) }
        }
    }

    /// The library closed the connection, by request or because it broke.
    func closed() {
        let requests = state.withLock { state in
            state.isClosed = true
            return state.requests.removeAll()
        }
        for request in requests { request.resume(throwing: EngineError.notConnected("closed")) }
        receive(.closed)
    }

    // MARK: - Sending

    package func append(_ frame: [UInt8]) { publish(frame, to: appends) }

    package func broadcast(_ bytes: [UInt8]) { publish(bytes, to: configuration.broadcasts) }

    package func reply(_ bytes: [UInt8], to address: String) {
        let number = UInt32.random(in: .min ... .max)
        for message in ReplyPiece.messages(of: bytes, reply: number) { publish(message, to: address) }
    }

    private func publish(_ bytes: [UInt8], to subject: String, replyTo: String? = nil) {
        guard let handle else { return }
        // Messages that cannot be sent are lost, as on the network; frames are sent again.
        _ = bytes.withUnsafeBytes { bytes in
            if let replyTo {
                natsConnection_PublishRequest(handle, subject, replyTo, bytes.baseAddress, Int32(bytes.count))
            } else {
                natsConnection_Publish(handle, subject, bytes.baseAddress, Int32(bytes.count))
            }
        }
    }

    // MARK: - Requests

    package func fetch(_ range: ClosedRange<UInt64>) async throws -> [StoredFrame] {
        let bodies = range.map { Array("{\"seq\":\($0)}".utf8) }
        let subject = "$JS.API.DIRECT.GET.\(configuration.stream)"
        let replies = try await request(subject, bodies, collecting: .messages(range.count), within: .seconds(3))
        let frames = replies.map { StoredFrame(position: $0.sequence ?? 0, bytes: $0.bytes) }
        return frames.sorted { $0.position < $1.position }
    }

    package func requestFromGroup(_ bytes: [UInt8], within time: Duration) async throws -> [UInt8] {
        try await request(configuration.groupRequests, [bytes], collecting: .pieces, within: time)[0].bytes
    }

    package func call(
        _ process: UInt64,
        _ bytes: [UInt8],
        within time: Duration,
        sent: @escaping @Sendable () -> Void
    ) async throws -> [UInt8] {
        let subject = configuration.calls(of: process)
        return try await request(subject, [bytes], collecting: .pieces, within: time, sent: sent)[0].bytes
    }

    package func notify(_ process: UInt64, _ bytes: [UInt8]) { publish(bytes, to: configuration.calls(of: process)) }

    /// Sends messages whose replies go to one address, and waits for all replies.
    func request(
        _ subject: String,
        _ bodies: [[UInt8]],
        collecting: RequestTable.Collection,
        within time: Duration,
        sent: @escaping @Sendable () -> Void = {}
    ) async throws -> [NATSReply] {
        let token = state.withLock { state in state.isClosed ? nil : state.requests.add(collecting) }
        guard let token else { throw EngineError.notConnected("closed") }
        return try await withThrowingTaskGroup(of: [NATSReply]?.self) { group in
            group.addTask {
                try await withCheckedThrowingContinuation { continuation in
                    guard self.state.withLock({ $0.requests.wait(for: token, continuation) }) else {
                        return continuation.resume(throwing: EngineError.timeout)
                    }
                    for body in bodies { self.publish(body, to: subject, replyTo: "\(self.inbox).\(token)") }
                    sent()
                }
            }
            group.addTask {
                try? await Task.sleep(for: time)
                self.state.withLock { $0.requests.timedOut(token) }?.resume()
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let replies = result { return replies }
            }
            throw EngineError.timeout
        }
    }

    // MARK: - Arriving

    func replied(_ message: OpaquePointer) {
        let token = String(cString: natsMsg_GetSubject(message)).split(separator: ".").last.flatMap { UInt64($0) }
        guard let token else { return }
        let reply = NATSReply(
            bytes: Self.bytes(of: message),
            sequence: Self.header("Nats-Sequence", of: message).flatMap { UInt64($0) },
            failure: Self.header("Status", of: message).map { $0 == "503" ? .noResponder : .missing }
        )
        let (isAwaited, done) = state.withLock { state in
            (state.requests.awaits(token), state.requests.arrived(reply, for: token))
        }
        done?.resume()
        // A frame that arrives after the time of its request need not be fetched again.
        if !isAwaited, let position = reply.sequence {
            receive(.frame(StoredFrame(position: position, bytes: reply.bytes)))
        }
    }

    func frameArrived(_ message: OpaquePointer) {
        guard let position = Self.header("Nats-Sequence", of: message).flatMap({ UInt64($0) }) else { return }
        receive(.frame(StoredFrame(position: position, bytes: Self.bytes(of: message))))
    }

    func broadcastArrived(_ message: OpaquePointer) { receive(.broadcast(Self.bytes(of: message))) }

    func groupRequestArrived(_ message: OpaquePointer) {
        guard let address = natsMsg_GetReply(message) else { return }
        receive(.groupRequest(Self.bytes(of: message), replyTo: String(cString: address)))
    }

    func callArrived(_ message: OpaquePointer) {
        receive(.call(Self.bytes(of: message), replyTo: natsMsg_GetReply(message).map { String(cString: $0) }))
    }

    private static func bytes(of message: OpaquePointer) -> [UInt8] {
        let count = Int(natsMsg_GetDataLength(message))
        guard count > 0, let data = natsMsg_GetData(message) else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: count))
    }

    private static func header(_ name: String, of message: OpaquePointer) -> String? {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(message, name, &value) == NATS_OK, let value else { return nil }
        return String(cString: value)
    }
}
