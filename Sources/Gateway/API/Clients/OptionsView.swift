internal import JSONText
internal import LightstreamerClient
internal import SessionCore

/// Connection options as REST shows them, one line for each.
enum OptionsView {
    private typealias Writer = (name: String, write: (ConnectionOptionValues, inout JSONBytes) -> Void)

    private static var writers: [Writer] {
        [
            ("connectTimeout", { $1.write($0.connectTimeout) }),
            ("currentConnectTimeout", { $1.shortest($0.currentConnectTimeout) }),
            ("contentLength", { $1.number(Int(clamping: $0.contentLength)) }),
            ("firstRetryMaxDelay", { $1.shortest($0.firstRetryMaxDelay) }),
            ("forcedTransport", { $1.string($0.forcedTransport?.rawValue) }),
            ("httpExtraHeaders", { write($0.httpExtraHeaders, to: &$1) }),
            ("httpExtraHeadersOnSessionCreationOnly", { $1.bool($0.httpExtraHeadersOnSessionCreationOnly) }),
            ("idleTimeout", { $1.shortest($0.idleTimeout) }),
            ("keepaliveInterval", { $1.shortest($0.keepaliveInterval) }),
            ("pollingInterval", { $1.shortest($0.pollingInterval) }),
            ("requestedMaxBandwidth", { $1.write($0.requestedMaxBandwidth) }),
            ("reconnectTimeout", { $1.shortest($0.reconnectTimeout) }),
            ("retryDelay", { $1.shortest($0.retryDelay) }),
            ("reverseHeartbeatInterval", { $1.shortest($0.reverseHeartbeatInterval) }),
            ("sessionRecoveryTimeout", { $1.shortest($0.sessionRecoveryTimeout) }),
            ("stalledTimeout", { $1.shortest($0.stalledTimeout) }),
            ("earlyWSOpenEnabled", { $1.bool($0.earlyWSOpenEnabled) }),
            ("serverInstanceAddressIgnored", { $1.bool($0.serverInstanceAddressIgnored) }),
            ("slowingEnabled", { $1.bool($0.slowingEnabled) }),
        ]
    }

    /// All options of a client: what is in force, and under `requested` what the user set.
    static func write(_ options: ConnectionOptions, to json: inout JSONBytes) {
        json.beginObject()
        write(options.values, to: &json)
        json.key("realMaxBandwidth")
        json.write(options.realMaxBandwidth)
        json.key("requested")
        json.beginObject()
        write(options.requested, to: &json)
        json.endObject()
        json.endObject()
    }

    /// Writes the value of one option that is in force; false for a name that is no option.
    static func write(_ name: String, of options: ConnectionOptions, to json: inout JSONBytes) -> Bool {
        if name == "realMaxBandwidth" {
            json.write(options.realMaxBandwidth)
            return true
        }
        guard let writer = writers.first(where: { $0.name == name }) else { return false }
        writer.write(options.values, &json)
        return true
    }

    private static func write(_ values: ConnectionOptionValues, to json: inout JSONBytes) {
        for writer in writers {
            json.key(writer.name)
            writer.write(values, &json)
        }
    }

    private static func write(_ headers: [String: String]?, to json: inout JSONBytes) {
        guard let headers else {
            json.null()
            return
        }
        json.beginObject()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            json.string(value)
        }
        json.endObject()
    }
}
