package import TLCP

extension MessageLedger {
    /// The `msg` requests to be (re)sent now, in the order of the calls, each with a fresh identifier; they count as
    /// written. `acknowledged` false: over a WebSocket, where messages whose fate interests nobody are not confirmed.
    /// `fits` is asked before each one; the first that does not fit stays pending with all that follow.
    package mutating func takePendingRequests(
        atMost count: Int = .max,
        acknowledged: Bool,
        ids: inout RequestIDGenerator,
        where fits: (ClientRequest) -> Bool = { _ in true }
    ) -> [ClientRequest] {
        var requests: [ClientRequest] = []
        while requests.count < count, let call = due.first() {
            guard let message = messages[call] else {
                due.remove(call)
                continue
            }
            let id = ids.next()
            let request = ClientRequest.message(message.request(id, acknowledged: acknowledged))
            guard fits(request) else { break }
            requests.append(request)
            if message.isFireAndForget && !acknowledged {
                finish(call)
            } else {
                due.remove(call)
                inFlight[id] = call
                messages[call]?.written(as: id)
            }
        }
        return requests
    }
}

extension PendingMessage {
    /// The request that carries the message.
    fileprivate func request(_ id: RequestID, acknowledged: Bool) -> MessageRequest {
        var request = MessageRequest(requestID: id, text: text)
        request.wantsOutcome = hasDelegate
        request.sequence = sequence
        request.progressive = progressive
        if sequence != nil { request.maxWaitMillis = delayMillis }
        request.isAcknowledged = acknowledged || !isFireAndForget
        return request
    }

    /// The timeout in whole milliseconds; nil: the server's default.
    private var delayMillis: Int? {
        guard let delayTimeout, delayTimeout >= 0 else { return nil }
        let millis = delayTimeout * 1000 + 0.5
        return millis < 1e15 ? Int(millis) : .max
    }
}
