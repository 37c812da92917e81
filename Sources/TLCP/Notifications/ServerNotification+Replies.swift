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
