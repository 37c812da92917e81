internal import JSONText

/// The names of the request parameters.
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

    /// Writes a Boolean; nil writes nothing.
    mutating func add(_ name: ParameterName, _ value: Bool?) {
        add(name, value.map { $0 ? "true" : "false" })
    }

    /// Writes a Boolean that differs from the default.
    mutating func add(_ name: ParameterName, _ value: Bool, unless defaultValue: Bool) {
        if value != defaultValue { add(name, value) }
    }
}
