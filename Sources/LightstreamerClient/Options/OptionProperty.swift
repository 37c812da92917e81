package import SessionCore

/// One connection option as data: its name, its rule, and how to compare and copy it.
package struct OptionProperty: Sendable {
    /// Today's name, as `didChangeProperty` tells it.
    package let name: String
    /// Whether two sets of options differ in it.
    package let differs: @Sendable (ConnectionOptionValues, ConnectionOptionValues) -> Bool
    /// Copies it from one set of options into another.
    package let copy: @Sendable (ConnectionOptionValues, inout ConnectionOptionValues) -> Void
    /// The refusal of its value; nil for an admitted one.
    package let violation: @Sendable (ConnectionOptionValues) -> ClientError?

    init<Value: Equatable & Sendable>(
        _ name: String,
        _ path: any WritableKeyPath<ConnectionOptionValues, Value> & Sendable,
        _ rule: @escaping @Sendable (Value) -> (value: String, rule: String)? = { _ in nil }
    ) {
        self.name = name
        differs = { $0[keyPath: path] != $1[keyPath: path] }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
        violation = { values in
            rule(values[keyPath: path]).map {
                ClientError(.invalidValue, property: name, value: $0.value, rule: $0.rule)
            }
        }
    }

    /// All options that a client has, in the order of the class reference.
    package static let all: [OptionProperty] = [
        OptionProperty("connectTimeout", \.connectTimeout, OptionRules.connectTimeout),
        OptionProperty("currentConnectTimeout", \.currentConnectTimeout, OptionRules.positive),
        OptionProperty("contentLength", \.contentLength, OptionRules.contentLength),
        OptionProperty("firstRetryMaxDelay", \.firstRetryMaxDelay, OptionRules.positive),
        OptionProperty("forcedTransport", \.forcedTransport),
        OptionProperty("httpExtraHeaders", \.httpExtraHeaders, OptionRules.extraHeaders),
        OptionProperty("httpExtraHeadersOnSessionCreationOnly", \.httpExtraHeadersOnSessionCreationOnly),
        OptionProperty("idleTimeout", \.idleTimeout, OptionRules.notNegative),
        OptionProperty("keepaliveInterval", \.keepaliveInterval, OptionRules.notNegative),
        OptionProperty("pollingInterval", \.pollingInterval, OptionRules.notNegative),
        OptionProperty("requestedMaxBandwidth", \.requestedMaxBandwidth, OptionRules.bandwidth),
        OptionProperty("reconnectTimeout", \.reconnectTimeout, OptionRules.positive),
        OptionProperty("retryDelay", \.retryDelay, OptionRules.positive),
        OptionProperty("reverseHeartbeatInterval", \.reverseHeartbeatInterval, OptionRules.notNegative),
        OptionProperty("sessionRecoveryTimeout", \.sessionRecoveryTimeout, OptionRules.notNegative),
        OptionProperty("stalledTimeout", \.stalledTimeout, OptionRules.positive),
        OptionProperty("earlyWSOpenEnabled", \.earlyWSOpenEnabled),
        OptionProperty("serverInstanceAddressIgnored", \.serverInstanceAddressIgnored),
        OptionProperty("slowingEnabled", \.slowingEnabled),
    ]
}

extension ConnectionOptionValues {
    /// Every value that the class reference refuses, in its order; empty for options that may be used.
    public var violations: [ClientError] { OptionProperty.all.compactMap { $0.violation(self) } }
}
