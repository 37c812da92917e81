internal import JSONText

/// One line from the server: a response to a request, or a notification of the session.
///
/// Client and server share this type: one end encodes what the other parses. Items, fields, positions and progressives
/// count from 1.
package enum ServerNotification: Sendable, Hashable {
    /// `CONOK`: a create or bind was accepted. `requestLimit` in bytes; `keepaliveMillis` is the granted idle time on a
    /// poll; `controlLink` nil: none (`*`).
    case conOK(sessionID: SessionID, requestLimit: Int, keepaliveMillis: Int, controlLink: String?)
    /// `CONERR`: a create or bind was refused.
    case conErr(code: Int, message: String)
    /// `REQOK`: a control or message request was accepted; nil: a heartbeat over HTTP.
    case reqOK(RequestID?)
    /// `REQERR`: a control or message request was refused.
    case reqErr(RequestID, code: Int, message: String)
    /// `ERROR`: a request could not be interpreted.
    case error(code: Int, message: String)
    /// `WSOK`: the answer to `wsok`.
    case wsOK

    /// `SERVNAME`: the configured name of the listening socket.
    case servName(String)
    /// `CLIENTIP`: the client's address as the server sees it.
    case clientIP(String)
    /// `CONS`: the bandwidth limit of the session from now on.
    case cons(RealMaxBandwidth)
    /// `NOOP`: filler without a meaning.
    case noop(String)
    /// `PROBE`: nothing else was sent for the keepalive time.
    case probe
    /// `SYNC`: whole seconds since the bind, on the server's clock.
    case sync(seconds: Int)
    /// `PROG`: how many data notifications precede the next one.
    case prog(Int)
    /// `LOOP`: the connection ends, the session waits for a bind after this many milliseconds.
    case loop(delayMillis: Int)
    /// `END`: the session is closed.
    case end(code: Int, message: String)

    /// `U`: an update of one item.
    case update(SubscriptionID, item: Int, fields: FieldList)
    /// `SUBOK`: subscribed, in any mode but COMMAND.
    case subOK(SubscriptionID, items: Int, fields: Int)
    /// `SUBCMD`: subscribed in COMMAND mode; positions of the key and command fields.
    case subCmd(SubscriptionID, items: Int, fields: Int, keyPosition: Int, commandPosition: Int)
    /// `UNSUB`: unsubscribed.
    case unsub(SubscriptionID)
    /// `EOS`: the snapshot of an item is complete.
    case eos(SubscriptionID, item: Int)
    /// `CS`: the snapshot of an item was cleared.
    case cs(SubscriptionID, item: Int)
    /// `OV`: the number of lost updates of an item.
    case ov(SubscriptionID, item: Int, lost: Int)
    /// `CONF`: the frequency limit of a subscription from now on.
    case conf(SubscriptionID, RealMaxFrequency, isFiltered: Bool)

    /// `MSGDONE`: a message was processed; `sequence` nil: none (`*`).
    case msgDone(sequence: String?, progressive: Int, response: String)
    /// `MSGFAIL`: a message was not processed, or its processing failed. With code 39 the message is a count of
    /// progressives, the last of which is `progressive`.
    case msgFail(sequence: String?, progressive: Int, code: Int, message: String)

    /// `MPNREG`: a device was registered; `adapter` is the Data Adapter with the items of the MPN module.
    case mpnReg(deviceID: String, adapter: String)
    /// `MPNZERO`: the badge of a device was reset.
    case mpnZero(deviceID: String)
    /// `MPNOK`: a push subscription is active.
    case mpnOK(SubscriptionID, mpnSubscriptionID: String)
    /// `MPNCONF`: a push subscription was reconfigured.
    case mpnConf(mpnSubscriptionID: String)
    /// `MPNDEL`: a push subscription was deleted.
    case mpnDel(mpnSubscriptionID: String)
}

extension ServerNotification {
    /// Parses a line without its CR-LF; nil for an empty line and for an unknown tag, which a client ignores.
    package init?(parsing line: ArraySlice<UInt8>) throws(TLCPError) {
        if let update = try UpdateLine(parsing: line) {
            self = .update(update.subscription, item: update.item, fields: update.fields)
            return
        }
        let parts = line.split(separator: UInt8(ascii: ","), maxSplits: 1, omittingEmptySubsequences: false)
        guard let tag = Tag(rawValue: String(decoding: parts[0], as: UTF8.self)) else { return nil }
        var arguments = ArgumentReader(tag: tag, rest: parts.count > 1 ? parts[1] : nil)
        self = try arguments.notification()
    }

    /// Appends the line with its CR-LF.
    package func encode(into line: inout [UInt8]) {
        switch self {
        case .conOK(let session, let requestLimit, let keepalive, let controlLink):
            line.append(.conOK, session.rawValue, requestLimit, keepalive, controlLink ?? "*")
        case .conErr(let code, let message): line.append(.conErr, code, message)
        case .reqOK(nil): line.append(.reqOK)
        case .reqOK(let request?): line.append(.reqOK, request.rawValue)
        case .reqErr(let request, let code, let message): line.append(.reqErr, request.rawValue, code, message)
        case .error(let code, let message): line.append(.error, code, message)
        case .wsOK: line.append(.wsOK)
        case .servName(let name): line.append(.servName, name)
        case .clientIP(let address): line.append(.clientIP, address)
        case .cons(let bandwidth): line.append(.cons, bandwidth.wire)
        case .noop(let filler): line.append(.noop, filler)
        case .probe: line.append(.probe)
        case .sync(let seconds): line.append(.sync, seconds)
        case .prog(let count): line.append(.prog, count)
        case .loop(let delay): line.append(.loop, delay)
        case .end(let code, let message): line.append(.end, code, message)
        case .update(let subscription, let item, let fields):
            line.append(.update, subscription, item)
            line.append(UInt8(ascii: ","))
            line.append(contentsOf: fields.bytes)
        case .subOK(let subscription, let items, let fields): line.append(.subOK, subscription, items, fields)
        case .subCmd(let subscription, let items, let fields, let key, let command):
            line.append(.subCmd, subscription, items, fields, key, command)
        case .unsub(let subscription): line.append(.unsub, subscription)
        case .eos(let subscription, let item): line.append(.eos, subscription, item)
        case .cs(let subscription, let item): line.append(.cs, subscription, item)
        case .ov(let subscription, let item, let lost): line.append(.ov, subscription, item, lost)
        case .conf(let subscription, let frequency, let isFiltered):
            line.append(.conf, subscription, frequency.wire, isFiltered ? "filtered" : "unfiltered")
        case .msgDone(let sequence, let progressive, let response):
            line.append(.msgDone, sequence ?? "*", progressive, response)
        case .msgFail(let sequence, let progressive, let code, let message):
            line.append(.msgFail, sequence ?? "*", progressive, code, message)
        case .mpnReg(let device, let adapter): line.append(.mpnReg, device, adapter)
        case .mpnZero(let device): line.append(.mpnZero, device)
        case .mpnOK(let subscription, let pushSubscription): line.append(.mpnOK, subscription, pushSubscription)
        case .mpnConf(let pushSubscription): line.append(.mpnConf, pushSubscription)
        case .mpnDel(let pushSubscription): line.append(.mpnDel, pushSubscription)
        }
        line.append(UInt8(ascii: "\r"))
        line.append(UInt8(ascii: "\n"))
    }

    /// The line with its CR-LF.
    package var encoded: [UInt8] {
        var line: [UInt8] = []
        encode(into: &line)
        return line
    }

    /// Whether this is a data notification, which counts for the progressive of session recovery.
    package var isDataNotification: Bool {
        switch self {
        case .update, .subOK, .subCmd, .unsub, .eos, .cs, .ov, .conf, .msgDone, .msgFail, .mpnReg, .mpnZero, .mpnOK,
            .mpnConf, .mpnDel:
            true
        case .conOK, .conErr, .reqOK, .reqErr, .error, .wsOK, .servName, .clientIP, .cons, .noop, .probe, .sync, .prog,
            .loop, .end:
            false
        }
    }
}

enum Tag: String, CaseIterable {
    case conOK = "CONOK"
    case conErr = "CONERR"
    case reqOK = "REQOK"
    case reqErr = "REQERR"
    case error = "ERROR"
    case wsOK = "WSOK"
    case servName = "SERVNAME"
    case clientIP = "CLIENTIP"
    case cons = "CONS"
    case noop = "NOOP"
    case probe = "PROBE"
    case sync = "SYNC"
    case prog = "PROG"
    case loop = "LOOP"
    case end = "END"
    case update = "U"
    case subOK = "SUBOK"
    case subCmd = "SUBCMD"
    case unsub = "UNSUB"
    case eos = "EOS"
    case cs = "CS"
    case ov = "OV"
    case conf = "CONF"
    case msgDone = "MSGDONE"
    case msgFail = "MSGFAIL"
    case mpnReg = "MPNREG"
    case mpnZero = "MPNZERO"
    case mpnOK = "MPNOK"
    case mpnConf = "MPNCONF"
    case mpnDel = "MPNDEL"

    /// The group of notifications that are parsed together.
    enum Family {
        case reply, session, subscription, message, push
    }

    var family: Family {
        switch self {
        case .conOK, .conErr, .reqOK, .reqErr, .error, .wsOK: .reply
        case .servName, .clientIP, .cons, .noop, .probe, .sync, .prog, .loop, .end: .session
        case .update, .subOK, .subCmd, .unsub, .eos, .cs, .ov, .conf: .subscription
        case .msgDone, .msgFail: .message
        case .mpnReg, .mpnZero, .mpnOK, .mpnConf, .mpnDel: .push
        }
    }
}

/// An argument of a line: a number, or a text that is escaped where the grammar requires it.
private protocol LineArgument {
    func encode(into line: inout [UInt8])
}

extension Int: LineArgument {
    fileprivate func encode(into line: inout [UInt8]) { line.append(decimal: self) }
}

extension String: LineArgument {
    fileprivate func encode(into line: inout [UInt8]) { PercentCoding.encode(argument: self, into: &line) }
}

extension SubscriptionID: LineArgument {
    fileprivate func encode(into line: inout [UInt8]) { rawValue.encode(into: &line) }
}

extension [UInt8] {
    /// Appends the first word of a line, and its arguments, each after a comma.
    fileprivate mutating func append(_ tag: Tag, _ arguments: any LineArgument...) {
        append(contentsOf: tag.rawValue.utf8)
        for argument in arguments {
            append(UInt8(ascii: ","))
            argument.encode(into: &self)
        }
    }
}
