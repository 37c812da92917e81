internal import TLCP

extension DemoServerMachine {
    /// `msg`.
    mutating func message(_ request: MessageRequest, _ faults: ResponseFaults, _ batch: inout ResponseBatch) {
        let id = request.requestID
        guard let handle = session(request.sessionID, id, faults, &batch) else { return }
        let longest = context.configuration.timings.maxMessageWait
        let message = ClientMessage(
            text: request.text,
            sequence: request.sequence,
            progressive: request.progressive,
            maxWait: request.maxWaitMillis.map { min(.boundedMilliseconds($0), longest) } ?? longest,
            wantsOutcome: request.wantsOutcome,
            peer: context.links[batch.link]?.peer ?? ""
        )
        switch sessions[handle]?.messages.received(message, at: context.now) {
        case .duplicate(let code):
            batch.answer(.reqErr(id, code: code, message: "Message progressive too low"), faults, &context)
        case .refused, nil:
            batch.answer(.reqErr(id, code: 34, message: "Too many messages are waiting"), faults, &context)
        case .accepted:
            metadata.accepted(request.text)
            if request.isAcknowledged || !batch.isWebSocket { batch.answer(.reqOK(id), faults, &context) }
            work(on: message.sequence, of: handle)
            for effect in faults.onStream { sessions[handle]?.apply(effect, &context) }
        }
    }

    /// Processes the messages that are ready in a sequence, and sets the timer for those that wait.
    mutating func work(on sequence: String?, of handle: SessionHandle) {
        while let event = sessions[handle]?.messages.nextWork(of: sequence, at: context.now) {
            switch event {
            case .process(let message): process(message, of: handle)
            case .skipped(let last, let count):
                let text = count == 1 ? "The specified progressive number has been skipped by timeout" : String(count)
                let code = count == 1 ? 38 : 39
                sessions[handle]?.report(
                    .msgFail(sequence: sequence, progressive: last, code: code, message: text),
                    &context
                )
            }
        }
        if let end = sessions[handle]?.messages.endOfDelay(of: sequence) {
            context.timers.set(.session(handle, .work(sequence: sequence)), at: end)
        }
        if let sequence, let end = sessions[handle]?.messages.earliestEnd(of: sequence) {
            context.timers.set(.session(handle, .skip(sequence: sequence)), at: end)
        }
    }

    private mutating func process(_ message: ClientMessage, of handle: SessionHandle) {
        switch metadata.command(of: message.text) {
        case .done(let response): finish(message, .success(response), of: handle)
        case .chat(let text):
            finish(message, .success(""), of: handle)
            publish(feeds.received(text, from: message.peer, at: context.now))
        case .failed(let code, let text):
            finish(message, .failure(ControlRefusal(code: code, message: text)), of: handle)
        case .later(let delay, let rest):
            var later = message
            later.text = rest
            sessions[handle]?.messages.postpone(later, until: context.now + delay)
        case .end(let end):
            finish(message, .success(""), of: handle)
            sessions[handle]?.end(end, &context)
        case .fault(let script):
            guard context.configuration.acceptsFaultsFromClients else {
                let refusal = ControlRefusal(code: -1, message: "Faults are not accepted from clients")
                return finish(message, .failure(refusal), of: handle)
            }
            do throws(FaultScriptError) {
                let faults = try FaultScript.parse(script)
                finish(message, .success("\(faults.count)"), of: handle)
                install(faults)
            } catch {
                finish(message, .failure(ControlRefusal(code: -2, message: error.description)), of: handle)
            }
        }
    }

    /// Reports the response to a message, or its failure, if the client requests the outcome.
    private mutating func finish(
        _ message: ClientMessage,
        _ outcome: Result<String, ControlRefusal>,
        of handle: SessionHandle
    ) {
        guard message.wantsOutcome, let progressive = message.progressive else { return }
        let sequence = message.sequence
        let notification: ServerNotification =
            switch outcome {
            case .success(let response): .msgDone(sequence: sequence, progressive: progressive, response: response)
            case .failure(let refusal):
                .msgFail(sequence: sequence, progressive: progressive, code: refusal.code, message: refusal.message)
            }
        sessions[handle]?.report(notification, &context)
    }
}
