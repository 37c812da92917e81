internal import CNATS
internal import Dispatch
internal import Primitives
internal import Replication

/// One connection to a NATS server. The library does not reconnect: a new connection inspects the log before it
/// receives messages.
///
/// `@unchecked`: the library's handles are set by `open`, before another thread has the object, and destroyed by
/// `deinit`; its calls may be made from any thread. All other state is protected by the mutex.
package final class NATSConnection: EngineConnection, @unchecked Sendable {
    struct State {
        var requests: RequestTable
        var isClosed = false
    }

    let configuration: NATSConfiguration
    /// The token of the replies to frames.
    private static let frameToken = "frame"
    private let process: UInt64
    private let receive: @Sendable (EngineInput) -> Void
    private let appends: String
    let inbox = "_INBOX.\(String(UInt64.random(in: .min ... .max), radix: 36))"
    let state: RankedMutex<State>
    private var handle: OpaquePointer?
    private var subscriptions: [OpaquePointer] = []

    init(configuration: NATSConfiguration, process: UInt64, receive: @escaping @Sendable (EngineInput) -> Void) {
        self.configuration = configuration
        appends = configuration.appends
        state = RankedMutex(State(requests: RequestTable(limit: configuration.replyBytes)))
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

    /// Connects and subscribes; waits for the server.
    func open() throws {
        var options: OpaquePointer?
        try natsCheck(natsOptions_Create(&options), "options")
        defer { natsOptions_Destroy(options) }
        try configuration.apply(to: options)
        // Released by `natsClosed`, which the library calls once for each connection.
        let context = Unmanaged.passRetained(self)
        natsOptions_SetClosedCB(options, natsClosed, context.toOpaque())
        natsOptions_SetErrorHandler(options, natsFailed, context.toOpaque())
        let status = natsConnection_Connect(&handle, options)
        guard status == NATS_OK else {
            context.release()
            throw EngineError.notConnected(NATSConfiguration.cause(of: status, NATSConfiguration.detail(of: status)))
        }
        do {
            let support = natsConnection_HasHeaderSupport(handle)
            guard support == NATS_OK else { throw EngineError.notConnected(NATSConfiguration.cause(of: support, "")) }
            try subscribe("\(inbox).*", replied)
            try subscribe(configuration.frames, frameArrived)
            try subscribe(configuration.broadcasts) { [self] in receive(.broadcast(Self.bytes(of: $0))) }
            try subscribe(configuration.groupRequests) { [self] message in
                if let reply = reply(to: message) { receive(.groupRequest(Self.bytes(of: message), reply: reply)) }
            }
            try subscribe(configuration.calls(of: process)) { [self] message in
                receive(.call(Self.bytes(of: message), reply: reply(to: message)))
            }
            try natsCheck(natsConnection_FlushTimeout(handle, 2000), "flush")
        } catch {
            close()
            throw error
        }
    }

    private func subscribe(_ subject: String, _ received: @escaping (OpaquePointer) -> Void) throws {
        var subscription: OpaquePointer?
        // Released by `natsCompleted`, which the library calls after the last message.
        let context = Unmanaged.passRetained(Recipient(received))
        let status = natsConnection_Subscribe(&subscription, handle, subject, natsArrived, context.toOpaque())
        guard status == NATS_OK, let subscription else {
            context.release()
            return try natsCheck(status, subject)
        }
        natsSubscription_SetOnCompleteCB(subscription, natsCompleted, context.toOpaque())
        subscriptions.append(subscription)
    }

    package func close() {
        // The library waits for a write that is under way.
        DispatchQueue.global().async { [self] in
            if let handle { natsConnection_Close(handle) }
        }
    }

    /// The library closed the connection, by request or because it broke.
    fileprivate func closed() {
        let requests = state.withLock { state in
            state.isClosed = true
            return state.requests.removeAll()
        }
        for request in requests { request.resume(throwing: EngineError.notConnected("closed")) }
        receive(.closed)
    }

    // MARK: - Sending

    /// The greatest message that the server accepts, in bytes. The library refuses to send a larger one.
    var messageLimit: Int64 { natsConnection_GetMaxPayload(handle) }

    /// The server replies to repeated frames alone: the others come back, which confirms them.
    package func append(_ frame: [UInt8], again: Bool) {
        let status = publish(frame, to: appends, replyTo: again ? "\(inbox).\(Self.frameToken)" : nil)
        guard status == NATS_MAX_PAYLOAD else { return }
        receive(.notStored("\(appends): a message of \(frame.count) bytes is larger than the max_payload of NATS"))
    }

    package func broadcast(_ bytes: [UInt8]) { publish(bytes, to: configuration.broadcasts) }

    /// Messages that cannot be sent are lost, as on the network; frames are sent again.
    @discardableResult
    func publish(_ bytes: [UInt8], to subject: String, replyTo: String? = nil) -> natsStatus {
        bytes.withUnsafeBytes { bytes in
            if let replyTo {
                natsConnection_PublishRequest(handle, subject, replyTo, bytes.baseAddress, Int32(bytes.count))
            } else {
                natsConnection_Publish(handle, subject, bytes.baseAddress, Int32(bytes.count))
            }
        }
    }

    // MARK: - Arriving

    private func replied(_ message: OpaquePointer) {
        let name = String(cString: natsMsg_GetSubject(message)).split(separator: ".").last
        if name == Self.frameToken[...] {
            let reason = Self.failure(in: Self.bytes(of: message), status: Self.header("Status", of: message))
            if let reason { receive(.notStored("\(appends): \(reason)")) }
            return
        }
        guard let name = name.flatMap({ ReplyName($0) }) else { return }
        let reply = NATSReply(message, position: name.position)
        let (isAwaited, done) = state.withLock { state in
            (state.requests.awaits(name.token), state.requests.arrived(reply, for: name.token))
        }
        done?.resume()
        // A frame that arrives after the time of its request need not be fetched again.
        if !isAwaited, reply.failure == nil, let position = reply.position {
            receive(.frame(StoredFrame(position: position, bytes: reply.bytes)))
        }
    }

    private func frameArrived(_ message: OpaquePointer) {
        guard let position = Self.header("Nats-Sequence", of: message).flatMap({ UInt64($0) }) else { return }
        receive(.frame(StoredFrame(position: position, bytes: Self.bytes(of: message))))
    }

    private func reply(to message: OpaquePointer) -> EngineReply? {
        guard let address = natsMsg_GetReply(message).map({ String(cString: $0) }) else { return nil }
        return { [self] bytes in
            let number = UInt32.random(in: .min ... .max)
            for message in ReplyPiece.messages(of: bytes, reply: number) { publish(message, to: address) }
        }
    }

    /// The server refuses what this connection has sent, or one of its subscriptions.
    fileprivate func refused(_ text: String) { receive(.refused(configuration.refusal(text))) }

    fileprivate static func bytes(of message: OpaquePointer) -> [UInt8] {
        let count = Int(natsMsg_GetDataLength(message))
        guard count > 0, let data = natsMsg_GetData(message) else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: count))
    }

    fileprivate static func header(_ name: String, of message: OpaquePointer) -> String? {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(message, name, &value) == NATS_OK, let value else { return nil }
        return String(cString: value)
    }
}

extension NATSReply {
    /// The reply of a message.
    ///
    /// - Parameter position: The position of the requested frame, if the request is for a frame of the log. A message
    ///   with a stored frame has the status and all other headers from the client that has appended the frame. The server
    ///   adds a sequence number to these headers; the report of a missing frame lacks the number.
    init(_ message: OpaquePointer, position: UInt64?) {
        let isStored = position != nil && NATSConnection.header("Nats-Sequence", of: message) != nil
        let status = isStored ? nil : NATSConnection.header("Status", of: message)
        self.init(
            bytes: NATSConnection.bytes(of: message),
            position: position,
            failure: status.map { $0 == "503" ? .noResponder : .missing }
        )
    }
}

// MARK: - Callbacks

// The callbacks of the library, called on its threads. A message belongs to its callback, which destroys it.

private typealias Context = UnsafeMutableRawPointer

/// The context of a subscription: what its connection does with a message.
private final class Recipient {
    let handle: (OpaquePointer) -> Void

    init(_ handle: @escaping (OpaquePointer) -> Void) { self.handle = handle }
}

private func natsArrived(_: OpaquePointer?, _: OpaquePointer?, _ message: OpaquePointer?, _ context: Context?) {
    defer { natsMsg_Destroy(message) }
    guard let message, let context else { return }
    Unmanaged<Recipient>.fromOpaque(context).takeUnretainedValue().handle(message)
}

/// The last message of a subscription was delivered: releases the reference of `subscribe`.
private func natsCompleted(_ context: Context?) {
    if let context { Unmanaged<Recipient>.fromOpaque(context).release() }
}

/// The server has reported an error, before the connection is closed. The text belongs to this thread.
private func natsFailed(_: OpaquePointer?, _: OpaquePointer?, _ status: natsStatus, _ context: Context?) {
    guard status == NATS_NOT_PERMITTED, let context, let text = nats_GetLastError(nil) else { return }
    Unmanaged<NATSConnection>.fromOpaque(context).takeUnretainedValue().refused(String(cString: text))
}

/// The connection is closed: releases the reference of `open`.
private func natsClosed(_: OpaquePointer?, _ context: Context?) {
    guard let context else { return }
    Unmanaged<NATSConnection>.fromOpaque(context).takeRetainedValue().closed()
}
