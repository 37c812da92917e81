internal import TLCP

/// The control and message requests of a client that wait to be sent or answered, and their HTTP connection.
///
/// They are sent in one order: transport and bandwidth, subscriptions, the device, messages. Each copy of a request has an
/// identifier that no other copy has.
struct RequestQueue: ~Copyable {
    /// The requests of the session itself.
    var controls = SessionControls()
    var subscriptions = SubscriptionStore()
    var messages = MessageLedger()
    /// The requests that are due if no other request is sent.
    var heartbeat: ReverseHeartbeat
    /// The HTTP requests beside a stream over HTTP.
    private var channel = ControlChannel()
    private var ids = RequestIDGenerator()
    /// The WebSocket on which the requests that had to wait were sent in batches: later requests go singly.
    private var batchedSocket: ConnectionID?
    /// The WebSocket that takes no more requests at present.
    private var fullSocket: ConnectionID?
    /// The size of the last HTTP request with several requests in it; 0: there was one in it.
    private var lastBatchSize = 0
    /// The numbers of the requests in the last HTTP request; none with a heartbeat.
    private var lastIDs = 0..<0
    /// The numbers of requests that were refused, each alone in its HTTP request. Other requests precede them.
    private var refused: [Range<Int>] = []
    /// The number of HTTP requests since the last turn of a refused request.
    private var preceding = 0
    /// The number of HTTP requests after which a refused request has its turn.
    private static let mostPreceding = 20
    /// The largest size in bytes of an HTTP request with several requests, in this session.
    private var batchLimit = Int.max
    private let refusesOversized: Bool

    /// An empty queue.
    init(_ configuration: SessionConfiguration, reverseHeartbeat: Duration) {
        refusesOversized = configuration.refusesOversizedRequests
        heartbeat = ReverseHeartbeat(option: reverseHeartbeat)
    }

    /// Another client may have used identifiers up to this number.
    mutating func skipIDs(upTo last: Int) { ids = RequestIDGenerator(after: last) }

    /// The request that ends the session.
    mutating func destroyRequest() -> ClientRequest {
        let operation = ControlOperation.destroy(DestroyRequest(closesSocket: true, cause: "api"))
        return .control(ControlRequest(requestID: ids.next(), operation: operation))
    }

    /// Leaves the present route, before requests take another one: unanswered requests are to be sent again.
    mutating func leaveRoute(_ out: inout SessionOutput) {
        out.close(channel.left())
        out.stopTimer(.control)
        refused = []
        returnUnanswered()
    }

    private mutating func returnUnanswered() {
        let held = Set(refused.joined().map { RequestID($0) })
        controls.channelLost(except: held)
        subscriptions.channelLost(except: held)
        messages.channelLost(except: held)
    }

    /// `REQOK` or `REQERR`. Returns the effects on subscriptions.
    mutating func answered(
        _ id: RequestID,
        _ answer: RequestAnswer,
        _ out: inout SessionOutput
    ) -> [SubscriptionEffect] {
        if let events = controls.requestAnswered(id, answer) {
            out.notify(events)
        } else if let effects = subscriptions.requestAnswered(id, answer) {
            return effects
        } else if let events = messages.requestAnswered(id, answer) {
            out.notify(events)
        }
        return []
    }

    /// A heartbeat is due: it is sent on the WebSocket unless that is full, or by the next HTTP request.
    mutating func heartbeatDue(on route: ControlRoute, at now: Moment, _ out: inout SessionOutput) {
        switch route {
        case .closed: break
        case .socket(let socket) where socket == fullSocket: break
        case .socket(let socket): out.emit(.send(socket, ClientRequest.heartbeat(HeartbeatRequest()).webSocketMessage))
        case .http: channel.heartbeatDue()
        }
        heartbeat.requestSent(at: now, &out)
    }

    /// A WebSocket takes no more requests, or takes them again: those that have waited go in batches.
    mutating func socketFilled(_ socket: ConnectionID, isFull: Bool) {
        if isFull {
            fullSocket = socket
        } else if fullSocket == socket {
            (fullSocket, batchedSocket) = (nil, nil)
        }
    }

    mutating func sessionEnded(_ out: inout SessionOutput) {
        batchLimit = .max
        refused = []
        heartbeat.sessionEnded()
        controls.sessionEnded()
        for case .notify(let token, let event) in subscriptions.sessionEnded() {
            out.notify(.subscription(token, event))
        }
        out.notify(messages.sessionEnded())
    }

    // MARK: - HTTP requests

    /// The connection of the HTTP request under way; nil: none.
    var connection: ConnectionID? { channel.connection }

    /// The next HTTP request: pending requests, or a heartbeat that is due; nil: nothing is, or a request is under way.
    mutating func nextPost(limit: Int, _ out: inout SessionOutput) -> RequestBatch? {
        guard channel.isIdle else { return nil }
        if let batch = nextBatch(limit: limit, &out) { return batch }
        return channel.isHeartbeatDue ? RequestBatch(.heartbeat(HeartbeatRequest()), form: .http, limit: 0) : nil
    }

    /// The HTTP request that was returned last was sent.
    mutating func posted(on connection: ConnectionID, at now: Moment, _ out: inout SessionOutput) {
        channel.sent(on: connection, ids: lastIDs, isHeartbeat: lastIDs.isEmpty, at: now)
        heartbeat.requestSent(at: now, &out)
    }

    /// A reply arrived on the connection of the HTTP request; nil: it names no request.
    mutating func replyReceived(to id: RequestID?) { channel.answerReceived(to: id) }

    /// The HTTP request was refused by the status of its response: a proxy may admit less than the server. If the
    /// HTTP request had several requests, later ones have half of the size at most. A request that was alone in the HTTP
    /// request is sent again when no other request waits, or after many others: a proxy may refuse it each time, for its size
    /// or its text.
    mutating func postRefused() {
        if lastBatchSize > 0 {
            batchLimit = lastBatchSize / 2
        } else if !lastIDs.isEmpty {
            refused.append(lastIDs)
        }
    }

    /// The response of the HTTP request is complete, or has failed for a reason. Requests without a reply are sent again.
    mutating func responseEnded(
        failure reason: String?,
        retryDelay: Duration,
        at now: Moment,
        _ out: inout SessionOutput
    ) {
        returnUnanswered()
        if let pause = channel.ended(isComplete: reason == nil, retryDelay: retryDelay, at: now) {
            out.startTimer(.control, after: pause)
            // The first failure may be that of the whole connection, which the stream reports.
            if channel.failures == 2 {
                out.emit(.log(.controlRequestsFail(reason: reason ?? "no reply to the requests")))
            }
        } else {
            out.stopTimer(.control)
        }
    }

    /// The time of the HTTP request, or of the pause after one, is over.
    mutating func timeEnded(retryDelay: Duration, at now: Moment, _ out: inout SessionOutput) {
        guard let connection else { return channel.pauseEnded() }
        out.close(connection)
        responseEnded(failure: "no answer in time", retryDelay: retryDelay, at: now, &out)
    }

    // MARK: - Batches

    /// Sends the pending requests on a WebSocket: those that waited for it in batches, later ones singly.
    mutating func sendAll(on socket: ConnectionID, limit: Int, at now: Moment, _ out: inout SessionOutput) {
        if socket == fullSocket { return }
        let isAlone = batchedSocket == socket
        batchedSocket = socket
        var hasSent = false
        while let batch = takeBatch(.webSocket, limit: limit, isAlone: isAlone, &out) {
            out.emit(.send(socket, batch.bytes))
            hasSent = true
        }
        if hasSent, heartbeat.interval != nil { heartbeat.requestSent(at: now, &out) }
    }

    /// The next batch for an HTTP request; nil: nothing is pending.
    private mutating func nextBatch(limit: Int, _ out: inout SessionOutput) -> RequestBatch? {
        let first = ids.following
        lastBatchSize = 0
        lastIDs = 0..<0
        let isTurn = preceding >= Self.mostPreceding && !refused.isEmpty
        if isTurn { returnRefused() }
        var next = takeBatch(.http, limit: limit, isAlone: isTurn, &out)
        while next == nil, !refused.isEmpty {
            returnRefused()
            next = takeBatch(.http, limit: limit, isAlone: false, &out)
        }
        preceding = isTurn || refused.isEmpty ? 0 : preceding + 1
        guard let batch = next else { return nil }
        if batch.count > 1 { lastBatchSize = batch.bytes.count }
        lastIDs = first..<ids.following
        return batch
    }

    /// The first of the requests that were refused is to be sent again.
    private mutating func returnRefused() {
        refused.removeFirst()
        returnUnanswered()
    }

    /// The next batch, control requests before messages; `isAlone`: one request.
    private mutating func takeBatch(
        _ form: RequestBatch.Form,
        limit: Int,
        isAlone: Bool,
        _ out: inout SessionOutput
    ) -> RequestBatch? {
        while true {
            var builder = BatchBuilder(
                form,
                limit: limit,
                batchLimit: form == .http ? batchLimit : .max,
                refusesOversized: refusesOversized
            )
            takeControls(into: &builder, isAlone: isAlone)
            if builder.batch == nil, builder.oversize == nil, messages.hasPendingRequests {
                _ = messages.takePendingRequests(
                    atMost: isAlone ? 1 : .max,
                    acknowledged: form == .http,
                    ids: &ids
                ) { builder.add($0) }
            }
            guard let size = builder.oversize else { return builder.batch }
            refuseNext(.oversized(size, limit: limit), &out)
        }
    }

    /// As many control requests as fit the batch, in their order; `isAlone`: the first of them.
    private mutating func takeControls(into builder: inout BatchBuilder, isAlone: Bool) {
        if controls.ledger.hasPending,
            !controls.takePending(.beforeSubscriptions, isAlone: isAlone, ids: &ids, into: &builder)
        {
            return
        }
        if !subscriptions.requests.isEmpty {
            _ = subscriptions.takePendingRequests(
                atMost: isAlone ? 1 : .max,
                acknowledged: builder.form == .http,
                ids: &ids
            ) { builder.add($0) }
            if isAlone, builder.batch != nil { return }
        }
        if controls.ledger.hasPending, subscriptions.requests.isEmpty {
            _ = controls.takePending(.afterSubscriptions, isAlone: isAlone, ids: &ids, into: &builder)
        }
    }

    /// Refuses the request that would be sent next. A server may close the connection instead of replying, and gets the
    /// request again with each further connection.
    private mutating func refuseNext(_ refusal: UpstreamRefusal, _ out: inout SessionOutput) {
        let (code, message) = (refusal.code, refusal.message)
        if let events = controls.refuseNext(.beforeSubscriptions, code: code, message: message) {
            out.notify(events)
        } else if !subscriptions.requests.isEmpty {
            for case .notify(let token, let event) in subscriptions.refuseNext(code: code, message: message) {
                out.notify(.subscription(token, event))
            }
        } else if let events = controls.refuseNext(.afterSubscriptions, code: code, message: message) {
            out.notify(events)
        } else {
            out.notify(messages.refuseNext(code: code, message: message))
        }
    }
}
