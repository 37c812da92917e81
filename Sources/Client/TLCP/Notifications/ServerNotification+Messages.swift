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

// MPNREG,<device>,<adapter>   MPNZERO,<device>   MPNOK,<sub>,<push sub>   MPNCONF,<push sub>   MPNDEL,<push sub>
extension ServerNotification {
    static func parseMPN(_ tag: Tag, _ arguments: inout ArgumentReader) throws(TLCPError) -> ServerNotification {
        switch tag {
        case .mpnReg: .mpnReg(deviceID: try arguments.text(), adapter: try arguments.lastText())
        case .mpnZero: .mpnZero(deviceID: try arguments.lastText())
        case .mpnOK: .mpnOK(try arguments.subscriptionID(), mpnSubscriptionID: try arguments.lastText())
        // An example of the specification has an empty second argument here: only the first one is read.
        case .mpnConf: .mpnConf(mpnSubscriptionID: try arguments.text())
        default: .mpnDel(mpnSubscriptionID: try arguments.lastText())
        }
    }

    func encodeMPN(into line: inout [UInt8]) {
        line.append(tag)
        switch self {
        case .mpnReg(let deviceID, let adapter):
            line.append(argument: deviceID)
            line.append(argument: adapter)
        case .mpnOK(let subscription, let mpnSubscriptionID):
            line.append(argument: subscription)
            line.append(argument: mpnSubscriptionID)
        case .mpnZero(let identifier), .mpnConf(let identifier), .mpnDel(let identifier):
            line.append(argument: identifier)
        default:
            break
        }
    }
}
