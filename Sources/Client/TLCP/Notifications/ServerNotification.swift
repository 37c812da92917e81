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
        line.append(contentsOf: tag.rawValue.utf8)
        encodeArguments(into: &line)
        line.append(UInt8(ascii: "\r"))
        line.append(UInt8(ascii: "\n"))
    }

    private func encodeArguments(into line: inout [UInt8]) {
        switch self {
        case .wsOK, .probe, .reqOK(nil): break
        case .conOK(let session, let requestLimit, let keepalive, let controlLink):
            line.append(arguments: session.rawValue, requestLimit, keepalive, controlLink ?? "*")
        case .reqOK(let request?): line.append(arguments: request.rawValue)
        case .reqErr(let request, let code, let message): line.append(arguments: request.rawValue, code, message)
        case .conErr(let code, let message), .error(let code, let message), .end(let code, let message):
            line.append(arguments: code, message)
        case .servName(let text), .clientIP(let text), .noop(let text), .mpnZero(let text), .mpnConf(let text),
            .mpnDel(let text):
            line.append(arguments: text)
        case .cons(let bandwidth): line.append(arguments: bandwidth.wire)
        case .sync(let number), .prog(let number), .loop(let number): line.append(arguments: number)
        case .update(let subscription, let item, let fields):
            line.append(arguments: subscription, item)
            line.append(UInt8(ascii: ","))
            line.append(contentsOf: fields.bytes)
        case .subOK(let subscription, let items, let fields): line.append(arguments: subscription, items, fields)
        case .subCmd(let subscription, let items, let fields, let key, let command):
            line.append(arguments: subscription, items, fields, key, command)
        case .unsub(let subscription): line.append(arguments: subscription)
        case .eos(let subscription, let item), .cs(let subscription, let item):
            line.append(arguments: subscription, item)
        case .ov(let subscription, let item, let lost): line.append(arguments: subscription, item, lost)
        case .conf(let subscription, let frequency, let isFiltered):
            line.append(arguments: subscription, frequency.wire, isFiltered ? "filtered" : "unfiltered")
        case .msgDone(let sequence, let progressive, let response):
            line.append(arguments: sequence ?? "*", progressive, response)
        case .msgFail(let sequence, let progressive, let code, let message):
            line.append(arguments: sequence ?? "*", progressive, code, message)
        case .mpnReg(let device, let adapter): line.append(arguments: device, adapter)
        case .mpnOK(let subscription, let pushSubscription): line.append(arguments: subscription, pushSubscription)
        }
    }

    /// The line with its CR-LF.
    package var encoded: [UInt8] {
        var line: [UInt8] = []
        encode(into: &line)
        return line
    }

    /// Whether this is a data notification, which counts for the progressive of session recovery.
    package var isDataNotification: Bool {
        switch tag.family {
        case .subscription, .message, .push: true
        case .reply, .session: false
        }
    }
}

/// The first word of a line.
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

extension ServerNotification {
    /// The first word of the line.
    var tag: Tag {
        switch self {
        case .conOK: .conOK
        case .conErr: .conErr
        case .reqOK: .reqOK
        case .reqErr: .reqErr
        case .error: .error
        case .wsOK: .wsOK
        case .servName: .servName
        case .clientIP: .clientIP
        case .cons: .cons
        case .noop: .noop
        case .probe: .probe
        case .sync: .sync
        case .prog: .prog
        case .loop: .loop
        case .end: .end
        case .update: .update
        case .subOK: .subOK
        case .subCmd: .subCmd
        case .unsub: .unsub
        case .eos: .eos
        case .cs: .cs
        case .ov: .ov
        case .conf: .conf
        case .msgDone: .msgDone
        case .msgFail: .msgFail
        case .mpnReg: .mpnReg
        case .mpnZero: .mpnZero
        case .mpnOK: .mpnOK
        case .mpnConf: .mpnConf
        case .mpnDel: .mpnDel
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
    /// Appends arguments, each after a comma.
    fileprivate mutating func append(arguments: any LineArgument...) {
        for argument in arguments {
            append(UInt8(ascii: ","))
            argument.encode(into: &self)
        }
    }
}
