// SERVNAME,<name>   CLIENTIP,<address>   CONS,<bandwidth>   NOOP,<filler>   PROBE
// SYNC,<seconds>    PROG,<count>         LOOP,<delay>       END,<code>,<message>
extension ServerNotification {
    static func parseSession(_ tag: Tag, _ arguments: inout ArgumentReader) throws(TLCPError) -> ServerNotification {
        switch tag {
        case .servName: .servName(try arguments.lastText())
        case .clientIP: .clientIP(try arguments.lastText())
        case .cons: .cons(try arguments.value(GrantedBandwidth.init(wire:)))
        case .noop: .noop(arguments.isAtEnd ? "" : filler(try arguments.lastBytes()))
        case .sync: .sync(seconds: try arguments.count())
        case .prog: .prog(try arguments.count())
        case .loop: .loop(delayMillis: try arguments.count())
        case .end: .end(code: try arguments.integer(), message: try arguments.lastText())
        default: .probe
        }
    }

    /// Filler has no meaning, so nothing in it can be wrong.
    private static func filler(_ bytes: ArraySlice<UInt8>) -> String {
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
