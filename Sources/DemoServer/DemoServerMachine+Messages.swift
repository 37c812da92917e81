internal import Primitives
internal import TLCP

extension DemoServerMachine {
    /// `msg`.
    mutating func message(_ request: MessageRequest, _ faults: ResponseFaults, _ batch: inout ResponseBatch) {
        guard let handle = session(request.sessionID, request.requestID, faults, &batch) else { return }
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
            answer(.reqErr(request.requestID, code: code, message: "Message progressive too low"), faults, &batch)
        case .refused, nil:
            answer(.reqErr(request.requestID, code: 34, message: "Too many messages are waiting"), faults, &batch)
        case .accepted, .waits:
            remember(request.text)
            if request.isAcknowledged || !batch.isWebSocket { answer(.reqOK(request.requestID), faults, &batch) }
            work(on: message.sequence, of: handle)
            for effect in faults.onStream { sessions[handle]?.apply(effect, &context) }
        }
    }

    private mutating func remember(_ text: String) {
        messageCount += 1
        messages.append(text)
        if messages.count > context.configuration.keptMessages { messages.removeFirst() }
    }

    /// Changes what takes the place of a text; nil removes it.
    mutating func respond(to text: String, as command: String?) { responses[text] = command }

    /// Processes the messages that are ready in a sequence, and sets the timer for those that wait.
    mutating func work(on sequence: String?, of handle: SessionHandle) {
        while let event = sessions[handle]?.messages.nextWork(of: sequence, at: context.now) {
            switch event {
            case .process(let message):
                process(message, of: handle)
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

    private mutating func process(_ message: ClientMessage, of handle: SessionHandle) {
        switch MessageCommand(responses[message.text] ?? message.text) {
        case .done(let response):
            succeed(message, response: response, of: handle)
        case .chat(let text):
            succeed(message, response: "", of: handle)
            publish(feeds.received(text, from: message.peer, at: context.now))
        case .failed(let code, let text):
            fail(message, code: code, text, of: handle)
        case .later(let delay, let rest):
            var later = message
            later.text = rest
            sessions[handle]?.messages.postpone(later, until: context.now + delay)
            context.timers.set(.session(handle, .work(sequence: message.sequence)), at: context.now + delay)
        case .end(let end):
            succeed(message, response: "", of: handle)
            sessions[handle]?.end(end, &context)
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

extension DemoServerMachine {
    /// The refusal of a mobile push request; nil if it is granted.
    func mobilePushRefusal(of operation: ControlOperation, in handle: SessionHandle) -> ControlRefusal? {
        guard context.configuration.mobilePush == .devicesOnly else {
            return ControlRefusal(code: 40, message: "MPN Module disabled")
        }
        let device = sessions[handle].flatMap { devices[$0.id.rawValue] }
        switch operation {
        case .mpnRegister(let request):
            guard request.platform == "Apple" || request.platform == "Google" else {
                return ControlRefusal(code: 42, message: "Unknown platform")
            }
            return request.appID.isEmpty ? ControlRefusal(code: 43, message: "Unknown application ID") : nil
        case .mpnResetBadge(let request):
            return device == request.deviceID ? nil : ControlRefusal(code: 45, message: "Unknown device ID")
        default:
            return nil
        }
    }

    /// Registers a device, or resets its badge.
    mutating func executeMobilePush(_ operation: ControlOperation, in handle: SessionHandle) {
        guard let session = sessions[handle]?.id.rawValue else { return }
        switch operation {
        case .mpnRegister(let request):
            let device = DemoServerMachine.deviceID(request)
            devices[session] = device
            sessions[handle]?.notify(.mpnReg(deviceID: device, adapter: "MPN_INTERNAL_DATA_ADAPTER"), &context)
        case .mpnResetBadge(let request):
            sessions[handle]?.notify(.mpnZero(deviceID: request.deviceID), &context)
        default:
            break
        }
        sessions[handle]?.pump(&context)
    }

    /// The same device gets the same identifier, 36 characters long, in every session.
    private static func deviceID(_ request: MPNRegisterRequest) -> String {
        let token = request.newDeviceToken ?? request.deviceToken
        var generator = SplitMix64(seed: 0, part: "\(request.platform) \(request.appID) \(token)")
        var digits = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
        while digits.count < 32 { digits += "0" }
        var groups: [Substring] = []
        var rest = digits[...]
        for length in [8, 4, 4, 4, 12] {
            groups.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return groups.joined(separator: "-")
    }
}

/// The responses to mobile push (MPN) requests; no notification is pushed to a device.
package enum MobilePushPolicy: Sendable, Hashable {
    /// Every MPN request is refused with code 40.
    case disabled
    /// Devices can be registered and their badges reset; there are no push subscriptions.
    case devicesOnly
}
