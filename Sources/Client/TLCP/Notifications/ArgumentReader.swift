/// Reads the arguments of one notification from left to right.
///
///     TAG , first , second , last one, commas included
struct ArgumentReader {
    let tag: Tag
    /// The arguments not read yet; nil if there are none.
    private var rest: ArraySlice<UInt8>?
    private var position = 0
    /// The longest text, in bytes, that a client keeps for the life of a session or of a failed request.
    private static let longestText = 4096

    init(tag: Tag, rest: ArraySlice<UInt8>?) {
        self.tag = tag
        self.rest = rest
    }

    var isAtEnd: Bool { rest == nil }

    private var malformed: TLCPError { .malformedArgument(tag: tag.rawValue, position: position) }

    /// The bytes up to the next comma.
    mutating func bytes() throws(TLCPError) -> ArraySlice<UInt8> {
        position += 1
        guard let present = rest else { throw .missingArgument(tag: tag.rawValue, position: position) }
        guard let comma = present.firstIndex(of: UInt8(ascii: ",")) else {
            rest = nil
            return present
        }
        rest = present[(comma + 1)...]
        return present[..<comma]
    }

    /// The rest of the line, commas included.
    mutating func lastBytes() throws(TLCPError) -> ArraySlice<UInt8> {
        position += 1
        guard let present = rest else { throw .missingArgument(tag: tag.rawValue, position: position) }
        rest = nil
        return present
    }

    mutating func text() throws(TLCPError) -> String { try PercentCoding.decode(try bytes()) }

    /// The rest of the line, percent-decoded.
    mutating func lastText() throws(TLCPError) -> String { try PercentCoding.decode(try lastBytes()) }

    /// The rest of the line, a text for people, percent-decoded. A long text is cut, a missing text is empty, and malformed escapes
    /// are taken as they are: the code before the text decides what follows.
    mutating func message() throws(TLCPError) -> String { isAtEnd ? "" : Self.cut(Self.lenient(try lastBytes())) }

    private static func cut(_ text: String) -> String {
        if text.utf8.count <= longestText { return text }
        return String(text[..<text.utf8.index(text.startIndex, offsetBy: longestText)])
    }

    /// A text that is of no use if it is cut.
    private func whole(_ text: String) throws(TLCPError) -> String {
        if text.utf8.count > Self.longestText { throw malformed }
        return text
    }

    /// A whole number from 0.
    mutating func count() throws(TLCPError) -> Int {
        guard let value = WireNumber.count(try bytes()) else { throw malformed }
        return value
    }

    /// A whole number from 1.
    mutating func ordinal() throws(TLCPError) -> Int {
        guard let value = WireNumber.count(try bytes()), value > 0 else { throw malformed }
        return value
    }

    /// A whole number of either sign.
    mutating func integer() throws(TLCPError) -> Int {
        guard let value = WireNumber.integer(try bytes()) else { throw malformed }
        return value
    }

    mutating func subscriptionID() throws(TLCPError) -> SubscriptionID { SubscriptionID(try ordinal()) }

    /// A value with its own syntax; nil from `parse` makes the argument malformed.
    mutating func value<Value>(_ parse: (String) -> Value?) throws(TLCPError) -> Value {
        guard let value = parse(try text()) else { throw malformed }
        return value
    }
}

extension ArgumentReader {
    mutating func notification() throws(TLCPError) -> ServerNotification {
        switch tag.family {
        case .reply: try reply()
        case .session: try sessionNotification()
        case .subscription: try subscriptionNotification()
        case .message: try messageNotification()
        case .push: try pushNotification()
        }
    }

    // CONOK,<session>,<request limit>,<keepalive>,<control link>
    // CONERR,<code>[,<message>]
    // REQOK[,<request>]
    // REQERR,<request>,<code>[,<message>]
    // ERROR,<code>[,<message>]
    // WSOK
    private mutating func reply() throws(TLCPError) -> ServerNotification {
        switch tag {
        case .conOK:
            let name = try text()
            let sessionID = SessionID(try whole(name))
            let limit = try count()
            let keepalive = try count()
            let link = try lastText()
            return .conOK(
                sessionID: sessionID,
                requestLimit: limit,
                keepaliveMillis: keepalive,
                controlLink: link == "*" ? nil : try whole(link)
            )
        case .conErr: return .conErr(code: try integer(), message: try message())
        case .reqOK: return .reqOK(isAtEnd ? nil : RequestID(try lastText()))
        case .reqErr:
            let requestID = RequestID(try text())
            return .reqErr(requestID, code: try integer(), message: try message())
        case .error: return .error(code: try integer(), message: try message())
        default: return .wsOK
        }
    }

    // SERVNAME,<name>   CLIENTIP,<address>   CONS,<bandwidth>   NOOP,<filler>   PROBE
    // SYNC,<seconds>    PROG,<count>         LOOP,<delay>       END,<code>[,<message>]
    private mutating func sessionNotification() throws(TLCPError) -> ServerNotification {
        switch tag {
        case .servName: .servName(Self.cut(Self.lenient(try lastBytes())))
        case .clientIP: .clientIP(Self.cut(Self.lenient(try lastBytes())))
        case .cons: .cons(try value(RealMaxBandwidth.init(wire:)))
        case .noop: .noop(isAtEnd ? "" : Self.lenient(try lastBytes()))
        case .sync: .sync(seconds: try count())
        case .prog: .prog(try count())
        case .loop: .loop(delayMillis: try count())
        case .end: .end(code: try integer(), message: try message())
        default: .probe
        }
    }

    /// A text whose malformed escapes are accepted: filler has no meaning, messages decide nothing, and official clients show
    /// names undecoded, so that servers may have written them as they are.
    private static func lenient(_ bytes: ArraySlice<UInt8>) -> String {
        (try? PercentCoding.decode(bytes)) ?? String(decoding: bytes, as: UTF8.self)
    }

    // SUBOK,<sub>,<items>,<fields>     SUBCMD,<sub>,<items>,<fields>,<key position>,<command position>
    // UNSUB,<sub>    EOS,<sub>,<item>    CS,<sub>,<item>    OV,<sub>,<item>,<lost>
    // CONF,<sub>,<frequency>[,filtered|unfiltered]       a missing last argument means filtered
    // U,… is an UpdateLine.
    private mutating func subscriptionNotification() throws(TLCPError) -> ServerNotification {
        let subscription = try subscriptionID()
        switch tag {
        case .subOK: return .subOK(subscription, items: try count(), fields: try count())
        case .subCmd:
            return .subCmd(
                subscription,
                items: try count(),
                fields: try count(),
                keyPosition: try ordinal(),
                commandPosition: try ordinal()
            )
        case .eos: return .eos(subscription, item: try ordinal())
        case .cs: return .cs(subscription, item: try ordinal())
        case .ov: return .ov(subscription, item: try ordinal(), lost: try count())
        case .conf:
            let frequency = try value(RealMaxFrequency.init(wire:))
            let isFiltered = isAtEnd ? true : try lastText() != "unfiltered"
            return .conf(subscription, frequency, isFiltered: isFiltered)
        default: return .unsub(subscription)
        }
    }

    // MSGDONE,<sequence or *>,<progressive>[,<response>]       servers of older versions send no response
    // MSGFAIL,<sequence or *>,<progressive>,<code>[,<message>]
    private mutating func messageNotification() throws(TLCPError) -> ServerNotification {
        let name = try text()
        let sequence = name == "*" ? nil : name
        let progressive = try count()
        if tag == .msgDone {
            let response = isAtEnd ? "" : try lastText()
            return .msgDone(sequence: sequence, progressive: progressive, response: response)
        }
        return .msgFail(sequence: sequence, progressive: progressive, code: try integer(), message: try message())
    }

    // MPNREG,<device>,<adapter>   MPNZERO,<device>   MPNOK,<sub>,<push sub>   MPNCONF,<push sub>   MPNDEL,<push sub>
    private mutating func pushNotification() throws(TLCPError) -> ServerNotification {
        switch tag {
        case .mpnReg: .mpnReg(deviceID: try text(), adapter: try lastText())
        case .mpnZero: .mpnZero(deviceID: try lastText())
        case .mpnOK: .mpnOK(try subscriptionID(), mpnSubscriptionID: try lastText())
        // An example of the specification has an empty second argument here: only the first one is read.
        case .mpnConf: .mpnConf(mpnSubscriptionID: try text())
        default: .mpnDel(mpnSubscriptionID: try lastText())
        }
    }
}
