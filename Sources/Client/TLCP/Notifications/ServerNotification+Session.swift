// CONOK,<session>,<request limit>,<keepalive>,<control link>
// CONERR,<code>,<message>
// REQOK[,<request>]
// REQERR,<request>,<code>,<message>
// ERROR,<code>,<message>
// WSOK
extension ServerNotification {
    static func parseReply(_ tag: Tag, _ arguments: inout ArgumentReader) throws(TLCPError) -> ServerNotification {
        switch tag {
        case .conOK:
            let sessionID = SessionID(try arguments.text())
            let limit = try arguments.count()
            let keepalive = try arguments.count()
            let link = try arguments.lastText()
            return .conOK(
                sessionID: sessionID,
                requestLimit: limit,
                keepaliveMillis: keepalive,
                controlLink: link == "*" ? nil : link
            )
        case .conErr:
            return .conErr(code: try arguments.integer(), message: try arguments.lastText())
        case .reqOK:
            return .reqOK(arguments.isAtEnd ? nil : RequestID(try arguments.lastText()))
        case .reqErr:
            let requestID = RequestID(try arguments.text())
            return .reqErr(requestID, code: try arguments.integer(), message: try arguments.lastText())
        case .error:
            return .error(code: try arguments.integer(), message: try arguments.lastText())
        default:
            return .wsOK
        }
    }

    func encodeReply(into line: inout [UInt8]) {
        line.append(tag)
        switch self {
        case .conOK(let sessionID, let requestLimit, let keepaliveMillis, let controlLink):
            line.append(argument: sessionID.rawValue)
            line.append(argument: requestLimit)
            line.append(argument: keepaliveMillis)
            line.append(argument: controlLink ?? "*")
        case .conErr(let code, let message), .error(let code, let message):
            line.append(argument: code)
            line.append(argument: message)
        case .reqOK(let requestID?):
            line.append(argument: requestID.rawValue)
        case .reqErr(let requestID, let code, let message):
            line.append(argument: requestID.rawValue)
            line.append(argument: code)
            line.append(argument: message)
        default:
            break
        }
    }
}

// SERVNAME,<name>   CLIENTIP,<address>   CONS,<bandwidth>   NOOP,<filler>   PROBE
// SYNC,<seconds>    PROG,<count>         LOOP,<delay>       END,<code>,<message>
extension ServerNotification {
    static func parseSession(_ tag: Tag, _ arguments: inout ArgumentReader) throws(TLCPError) -> ServerNotification {
        switch tag {
        case .servName: .servName(lenient(try arguments.lastBytes()))
        case .clientIP: .clientIP(lenient(try arguments.lastBytes()))
        case .cons: .cons(try arguments.value(RealMaxBandwidth.init(wire:)))
        case .noop: .noop(arguments.isAtEnd ? "" : lenient(try arguments.lastBytes()))
        case .sync: .sync(seconds: try arguments.count())
        case .prog: .prog(try arguments.count())
        case .loop: .loop(delayMillis: try arguments.count())
        case .end: .end(code: try arguments.integer(), message: try arguments.lastText())
        default: .probe
        }
    }

    /// A text whose malformed escapes are accepted: filler has no meaning, and official clients show names undecoded, so that
    /// servers may have written them as they are.
    private static func lenient(_ bytes: ArraySlice<UInt8>) -> String {
        (try? PercentCoding.decode(bytes)) ?? String(decoding: bytes, as: UTF8.self)
    }

    func encodeSession(into line: inout [UInt8]) {
        line.append(tag)
        switch self {
        case .servName(let text), .clientIP(let text):
            line.append(argument: text)
        case .noop(let text):
            line.append(argument: text)
        case .cons(let bandwidth):
            line.append(argument: bandwidth.wire)
        case .sync(let number), .prog(let number), .loop(let number):
            line.append(argument: number)
        case .end(let code, let message):
            line.append(argument: code)
            line.append(argument: message)
        default:
            break
        }
    }
}
