internal import JSONText
internal import Primitives

enum ParameterName: String, Sendable {
    case `protocol` = "LS_protocol"
    case session = "LS_session"
    case requestID = "LS_reqId"
    case operation = "LS_op"
    case ack = "LS_ack"
    case cause = "LS_cause"

    case clientID = "LS_cid"
    case user = "LS_user"
    case password = "LS_password"
    case adapterSet = "LS_adapter_set"
    case maxBandwidth = "LS_requested_max_bandwidth"
    case contentLength = "LS_content_length"
    case supportedDiffs = "LS_supported_diffs"
    case polling = "LS_polling"
    case pollingMillis = "LS_polling_millis"
    case idleMillis = "LS_idle_millis"
    case inactivityMillis = "LS_inactivity_millis"
    case keepaliveMillis = "LS_keepalive_millis"
    case sendSync = "LS_send_sync"
    case reduceHead = "LS_reduce_head"
    case ttlMillis = "LS_ttl_millis"
    case oldSession = "LS_old_session"
    case recoveryFrom = "LS_recovery_from"

    case subscriptionID = "LS_subId"
    case dataAdapter = "LS_data_adapter"
    case group = "LS_group"
    case schema = "LS_schema"
    case selector = "LS_selector"
    case mode = "LS_mode"
    case bufferSize = "LS_requested_buffer_size"
    case maxFrequency = "LS_requested_max_frequency"
    case snapshot = "LS_snapshot"
    case closeSocket = "LS_close_socket"
    case causeCode = "LS_cause_code"
    case causeMessage = "LS_cause_message"

    case message = "LS_message"
    case sequence = "LS_sequence"
    case progressive = "LS_msg_prog"
    case maxWait = "LS_max_wait"
    case outcome = "LS_outcome"

    case pushType = "PN_type"
    case appID = "PN_appId"
    case deviceToken = "PN_deviceToken"
    case newDeviceToken = "PN_newDeviceToken"
    case deviceID = "PN_deviceId"
}

/// Writes the parameters of a request, separated by `&`.
struct ParameterWriter {
    private var bytes: [UInt8]
    private var lineStart: Int

    /// A writer that appends to `bytes`. To avoid a copy it takes over their storage: `bytes` is empty until
    /// `give(back:)`.
    init(taking bytes: inout [UInt8]) {
        self.bytes = []
        swap(&self.bytes, &bytes)
        lineStart = self.bytes.count
    }

    /// Stores the bytes, parameters included, in `target`.
    consuming func give(back target: inout [UInt8]) { target = bytes }

    /// Ends the line and starts another.
    mutating func endLine() {
        bytes.append(UInt8(ascii: "\r"))
        bytes.append(UInt8(ascii: "\n"))
        lineStart = bytes.count
    }

    private mutating func begin(_ name: ParameterName) {
        if bytes.count > lineStart { bytes.append(UInt8(ascii: "&")) }
        bytes.append(contentsOf: name.rawValue.utf8)
        bytes.append(UInt8(ascii: "="))
    }

    /// Writes a text; nil writes nothing.
    mutating func add(_ name: ParameterName, _ value: String?) {
        guard let value else { return }
        begin(name)
        PercentCoding.encode(parameter: value, into: &bytes)
    }

    /// Writes a whole number; nil writes nothing.
    mutating func add(_ name: ParameterName, _ value: Int?) {
        guard let value else { return }
        begin(name)
        bytes.append(decimal: value)
    }

    /// Writes a Boolean that differs from the default; nil writes nothing.
    mutating func add(_ name: ParameterName, _ value: Bool?, unless defaultValue: Bool? = nil) {
        guard let value, value != defaultValue else { return }
        add(name, value ? "true" : "false")
    }
}

/// Percent-encoding of the bytes of UTF-8.
package enum PercentCoding {
    /// Decodes an argument of a notification. A `+` is not changed.
    package static func decode(_ bytes: ArraySlice<UInt8>) throws(TLCPError) -> String {
        guard bytes.contains(UInt8(ascii: "%")) else {
            guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8 }
            return text
        }
        guard let decoded = unescaped(bytes, plusIsSpace: false) else { throw .malformedEscape }
        guard let text = String(validating: decoded, as: UTF8.self) else { throw .invalidUTF8 }
        return text
    }

    /// Decodes a parameter of a request, where a bare `+` is a space; nil if an escape is malformed or the bytes are
    /// not UTF-8.
    package static func decode(parameter bytes: ArraySlice<UInt8>) -> String? {
        unescaped(bytes, plusIsSpace: true).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Appends a parameter value of a request, with all bytes escaped but ASCII letters, digits, `-`, `.`, `_` and `~`.
    package static func encode(parameter text: String, into bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): bytes.append(byte)
            case _ where byte.isASCIIAlphanumeric: bytes.append(byte)
            default: escape(byte, into: &bytes)
            }
        }
    }

    /// Appends an argument of a notification, with control characters, `%` and `,` escaped.
    package static func encode(argument text: String, into bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if byte < 0x20 || byte == UInt8(ascii: "%") || byte == UInt8(ascii: ",") {
                escape(byte, into: &bytes)
            } else {
                bytes.append(byte)
            }
        }
    }

    /// The decoded bytes; nil if an escape is malformed.
    static func unescaped<Bytes>(_ bytes: Bytes, plusIsSpace: Bool) -> [UInt8]?
    where Bytes: RandomAccessCollection, Bytes.Element == UInt8, Bytes.Index == Int {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                guard bytes.endIndex - index > 2, let high = bytes[index + 1].hexadecimalValue,
                    let low = bytes[index + 2].hexadecimalValue
                else { return nil }
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
                index += 1
            }
        }
        return result
    }

    /// Appends one byte as an escape with upper-case digits.
    static func escape(_ byte: UInt8, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(hexadecimal(byte >> 4))
        bytes.append(hexadecimal(byte & 0x0F))
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit of either case; nil for other bytes.
    var hexadecimalValue: UInt8? {
        if isASCIIDigit { return self & 0x0F }
        let letter = (self | 0x20) &- 0x61
        return letter < 6 ? letter + 10 : nil
    }
}
