internal import TLCP

extension DemoServerMachine {
    /// `msg`.
    mutating func message(_ request: MessageRequest, _ manner: AnswerManner, _ sheet: inout AnswerSheet) {
        guard let handle = session(request.sessionID, request.requestID, manner, &sheet) else { return }
        let longest = context.configuration.timings.maxMessageWait
        let message = ClientMessage(
            text: request.text,
            sequence: request.sequence,
            progressive: request.progressive,
            maxWait: request.maxWaitMillis.map { min(.boundedMilliseconds($0), longest) } ?? longest,
            wantsOutcome: request.wantsOutcome
        )
        switch sessions[handle]?.messages.received(message, at: context.now) {
        case .duplicate(let code):
            answer(.reqErr(request.requestID, code: code, message: "Message progressive too low"), manner, &sheet)
        case .refused, nil:
            answer(.reqErr(request.requestID, code: 34, message: "Too many messages are waiting"), manner, &sheet)
        case .accepted, .waits:
            if request.isAcknowledged || !sheet.isWebSocket { answer(.reqOK(request.requestID), manner, &sheet) }
            work(on: message.sequence, of: handle, from: context.links[sheet.link]?.peer ?? "")
            for effect in manner.onStream { sessions[handle]?.strike(effect, &context) }
        }
    }

    /// Processes what is ready in a sequence, and arranges for what has to wait.
    mutating func work(on sequence: String?, of handle: SessionHandle, from peer: String) {
        while let event = sessions[handle]?.messages.nextWork(of: sequence, at: context.now) {
            switch event {
            case .process(let message):
                process(message, of: handle, from: peer)
            case .skipped(let last, let count):
                let text = count == 1 ? "The specified progressive number has been skipped by timeout" : String(count)
                let code = count == 1 ? 38 : 39
                report(.msgFail(sequence: sequence, progressive: last, code: code, message: text), to: handle)
            }
        }
        if let sequence, let end = sessions[handle]?.messages.earliestEnd(of: sequence) {
            context.timers.set(.session(handle, .skip(sequence: sequence)), at: end)
        }
    }

    private mutating func process(_ message: ClientMessage, of handle: SessionHandle, from peer: String) {
        switch MessageMeaning(message.text) {
        case .done(let response):
            succeed(message, response: response, of: handle)
        case .chat(let text):
            succeed(message, response: "", of: handle)
            publish(feeds.said(text, from: peer, at: context.now))
        case .failed(let code, let text):
            fail(message, code: code, text, of: handle)
        case .later(let delay, let rest):
            var later = message
            later.text = rest
            sessions[handle]?.messages.postpone(later, until: context.now + delay)
            context.timers.set(.session(handle, .work(sequence: message.sequence)), at: context.now + delay)
        case .end(let farewell):
            succeed(message, response: "", of: handle)
            sessions[handle]?.end(farewell, &context)
        case .fault(let script):
            guard context.configuration.acceptsFaultsFromClients else {
                fail(message, code: -1, "Faults are not accepted from clients", of: handle)
                return
            }
            do throws(FaultScriptError) {
                let faults = try FaultScript.parse(script)
                succeed(message, response: "\(faults.count)", of: handle)
                install(faults)
            } catch {
                fail(message, code: -2, error.description, of: handle)
            }
        }
    }

    private mutating func succeed(_ message: ClientMessage, response: String, of handle: SessionHandle) {
        guard message.wantsOutcome, let progressive = message.progressive else { return }
        report(.msgDone(sequence: message.sequence, progressive: progressive, response: response), to: handle)
    }

    private mutating func fail(_ message: ClientMessage, code: Int, _ text: String, of handle: SessionHandle) {
        guard message.wantsOutcome, let progressive = message.progressive else { return }
        report(.msgFail(sequence: message.sequence, progressive: progressive, code: code, message: text), to: handle)
    }

    private mutating func report(_ outcome: ServerNotification, to handle: SessionHandle) {
        sessions[handle]?.notify(outcome, &context)
        sessions[handle]?.pump(&context)
    }
}
