/// Parses requests on the side of the server: a request or a rejection for each line.
///
///     WebSocket    name CR-LF line *( CR-LF line ) [ CR-LF ]        or just  wsok
///     HTTP         path names the request; query: defaults of all lines; body: line *( CR-LF line ) [ CR-LF ]
package enum RequestParser {
    package typealias Outcome = Result<ClientRequest, RequestRejection>

    package static func parse(webSocketMessage message: ArraySlice<UInt8>) -> [Outcome] {
        let lines = lines(of: message)
        guard let first = lines.first, let name = RequestName(rawValue: String(decoding: first, as: UTF8.self)) else {
            return [.failure(RequestRejection(.unaddressed, code: 67, message: "Malformed request"))]
        }
        return parse(name, lines.count > 1 ? Array(lines[1...]) : [[]], defaults: nil)
    }

    /// Parses an HTTP request: its name, the raw query string without `?`, and the body, which is empty for GET.
    package static func parse(_ name: RequestName, query: ArraySlice<UInt8>, body: ArraySlice<UInt8>) -> [Outcome] {
        let carrier: RequestRejection.Carrier = name.opensStream ? .connection : .unaddressed
        do throws(RequestRejection) {
            let defaults = try ParameterReader(query, carrier: carrier)
            let version = defaults.text(.protocol)
            guard let version, ProtocolVersion(protocolParameter: version)?.isServed == true else {
                throw RequestRejection.unsupportedVersion(version, carrier)
            }
            let lines = lines(of: body)
            return parse(name, lines.isEmpty ? [[]] : lines, defaults: defaults)
        } catch {
            return [.failure(error)]
        }
    }

    /// Splits at CR-LF or a bare LF, and drops one empty line at the end. The text of a `LiteralMessage` is not split.
    private static func lines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = bytes
        while !rest.isEmpty {
            let start = LiteralMessage(at: rest)?.text.endIndex ?? rest.startIndex
            let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let hasReturn = end > start && rest[end - 1] == UInt8(ascii: "\r")
            lines.append(rest[..<(hasReturn ? end - 1 : end)])
            rest = rest[end...].dropFirst()
        }
        return lines
    }

    private static func parse(
        _ name: RequestName,
        _ lines: [ArraySlice<UInt8>],
        defaults: ParameterReader?
    ) -> [Outcome] {
        (name.allowsBatch ? lines.map { [$0] } : [lines]).map { lines in
            Outcome { () throws(RequestRejection) in try request(name, lines, defaults) }
        }
    }

    /// The request of one line; that of `create_session` has a further line for each operation.
    private static func request(
        _ name: RequestName,
        _ lines: [ArraySlice<UInt8>],
        _ defaults: ParameterReader?
    ) throws(RequestRejection) -> ClientRequest {
        if name == .wsok { return .wsok }
        let carrier: RequestRejection.Carrier = name.opensStream ? .connection : .unaddressed
        guard lines.count == 1 || name == .createSession else {
            throw RequestRejection(carrier, code: 67, message: "Malformed request")
        }
        let parameters = try ParameterReader(lines[0], defaults: defaults, carrier: carrier)
        switch name {
        case .createSession:
            var combo: [ParameterReader] = []
            for line in lines.dropFirst() { combo.append(try ParameterReader(line, carrier: .connection)) }
            return .createSession(try CreateSessionRequest(reading: parameters, combo: combo))
        case .bindSession: return .bindSession(try BindSessionRequest(reading: parameters))
        case .control: return .control(try ControlRequest(reading: parameters))
        case .msg: return .message(try MessageRequest(reading: parameters))
        case .heartbeat: return .heartbeat(HeartbeatRequest(reading: parameters))
        case .wsok: return .wsok
        }
    }
}

/// The line of a message whose text is not escaped. The official client libraries for browsers and Node.js before 9.0 send
/// it over a WebSocket; the specification does not have it.
///
///     LS_unq=COUNT&LS_reqId=4&LS_msg_prog=1&LS_message=TEXT
///
/// COUNT is the number of UTF-16 code units from the first `&` to the end of the text, which may hold any character.
struct LiteralMessage {
    /// The parameters before the text.
    let parameters: ArraySlice<UInt8>
    let text: ArraySlice<UInt8>

    /// Reads the line at the beginning of `bytes`; nil if another line is there, or one that does not end after COUNT.
    init?(at bytes: ArraySlice<UInt8>) {
        let prefix = "LS_unq=".utf8
        guard bytes.starts(with: prefix), let ampersand = bytes.firstIndex(of: UInt8(ascii: "&")),
            let count = WireNumber.count(bytes[(bytes.startIndex + prefix.count)..<ampersand]),
            let end = Self.end(of: count, in: bytes[(ampersand + 1)...]),
            end == bytes.endIndex || bytes[end...].starts(with: "\n".utf8) || bytes[end...].starts(with: "\r\n".utf8),
            let name = bytes[ampersand..<end].firstRange(of: Array("&\(ParameterName.message.rawValue)=".utf8))
        else { return nil }
        parameters = bytes[ampersand..<name.lowerBound]
        text = bytes[name.upperBound..<end]
    }

    /// The index behind a number of UTF-16 code units; nil if there are fewer, or if the last one is half of a pair.
    private static func end(of count: Int, in bytes: ArraySlice<UInt8>) -> Int? {
        guard count <= bytes.count else { return nil }
        var units = 0
        let end = bytes.firstIndex { byte in
            // The bytes of a character after its first one.
            if byte & 0xC0 == 0x80 { return false }
            if units >= count { return true }
            units += byte >= 0xF0 ? 2 : 1
            return false
        }
        return units == count ? end ?? bytes.endIndex : nil
    }
}
