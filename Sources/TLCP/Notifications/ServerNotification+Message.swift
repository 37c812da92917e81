// MSGDONE,<sequence or *>,<progressive>[,<response>]       servers of older versions send no response
// MSGFAIL,<sequence or *>,<progressive>,<code>,<message>
extension ServerNotification {
    static func parseMessage(_ tag: Tag, _ arguments: inout ArgumentReader) throws(TLCPError) -> ServerNotification {
        let name = try arguments.text()
        let sequence = name == "*" ? nil : name
        let progressive = try arguments.count()
        if tag == .msgDone {
            let response = arguments.isAtEnd ? "" : try arguments.lastText()
            return .msgDone(sequence: sequence, progressive: progressive, response: response)
        }
        return .msgFail(
            sequence: sequence,
            progressive: progressive,
            code: try arguments.integer(),
            message: try arguments.lastText()
        )
    }

    func encodeMessage(into line: inout [UInt8]) {
        line.append(tag)
        switch self {
        case .msgDone(let sequence, let progressive, let response):
            line.append(argument: sequence ?? "*")
            line.append(argument: progressive)
            line.append(argument: response)
        case .msgFail(let sequence, let progressive, let code, let message):
            line.append(argument: sequence ?? "*")
            line.append(argument: progressive)
            line.append(argument: code)
            line.append(argument: message)
        default:
            break
        }
    }
}
