internal import JSONText
internal import LightstreamerClient
internal import SessionCore

/// A merge patch of connection options: all of it, or none.
struct OptionsPatch {
    private typealias Change = (inout ConnectionOptionValues) -> Void

    private let changes: [Change]

    /// Reads a patch. `defaults` is what null restores. Refusals go to the reader's list, one for each member.
    init(_ reader: ObjectReader, defaults: ConnectionOptionValues) {
        var changes: [Change] = []
        var known: Set<String> = []
        for (name, read) in Self.members {
            known.insert(name)
            guard let value = reader.object[name] else { continue }
            switch read(value, defaults, reader.path + [name], reader.refusals) {
            case .some(let change): changes.append(change)
            case nil: break
            }
        }
        reader.allow(only: known)
        self.changes = changes
    }

    /// Applies the patch to options.
    func apply(to values: inout ConnectionOptionValues) {
        for change in changes { change(&values) }
    }

    /// Sets the options of a client. Throws what the class reference refuses, before anything has changed.
    func apply(to options: ConnectionOptions) throws(ClientError) {
        try options.update { values in apply(to: &values) }
    }
}

// MARK: - One line for each option

extension OptionsPatch {
    private typealias Read = (JSONValue, ConnectionOptionValues, [String], Refusals) -> Change?
    private typealias Path<Value> = WritableKeyPath<ConnectionOptionValues, Value>

    private static var members: [(String, Read)] {
        [
            ("connectTimeout", limit(\.connectTimeout, .connectTimeout)),
            ("currentConnectTimeout", seconds(\.currentConnectTimeout, isPositive: true)),
            ("contentLength", contentLength),
            ("firstRetryMaxDelay", seconds(\.firstRetryMaxDelay, isPositive: true)),
            ("forcedTransport", forcedTransport),
            ("httpExtraHeaders", extraHeaders),
            ("httpExtraHeadersOnSessionCreationOnly", flag(\.httpExtraHeadersOnSessionCreationOnly)),
            ("idleTimeout", seconds(\.idleTimeout)),
            ("keepaliveInterval", seconds(\.keepaliveInterval)),
            ("pollingInterval", seconds(\.pollingInterval)),
            ("requestedMaxBandwidth", limit(\.requestedMaxBandwidth, .bandwidth)),
            ("reconnectTimeout", seconds(\.reconnectTimeout, isPositive: true)),
            ("retryDelay", seconds(\.retryDelay, isPositive: true)),
            ("reverseHeartbeatInterval", seconds(\.reverseHeartbeatInterval)),
            ("sessionRecoveryTimeout", seconds(\.sessionRecoveryTimeout)),
            ("stalledTimeout", seconds(\.stalledTimeout, isPositive: true)),
            ("earlyWSOpenEnabled", flag(\.earlyWSOpenEnabled)),
            ("serverInstanceAddressIgnored", flag(\.serverInstanceAddressIgnored)),
            ("slowingEnabled", flag(\.slowingEnabled)),
        ]
    }

    private static func seconds(_ path: Path<Double>, isPositive: Bool = false) -> Read {
        { value, defaults, place, refusals in
            if value.isNull { return { $0[keyPath: path] = defaults[keyPath: path] } }
            guard let seconds = value.number?.doubleValue, seconds >= 0, seconds <= Decimals.bound,
                !isPositive || seconds > 0
            else {
                let least = isPositive ? "greater than 0" : "not less than 0"
                refusals.refuse(place, "A number of seconds \(least) is expected, \(Int(Decimals.bound)) at most.")
                return nil
            }
            return { $0[keyPath: path] = seconds }
        }
    }

    private static func flag(_ path: Path<Bool>) -> Read {
        { value, defaults, place, refusals in
            if value.isNull { return { $0[keyPath: path] = defaults[keyPath: path] } }
            guard let flag = value.bool else {
                refusals.refuse(place, "true, false or null is expected.")
                return nil
            }
            return { $0[keyPath: path] = flag }
        }
    }

    private static func limit<Value>(_ path: Path<Value>, _ rule: LimitText<Value>) -> Read {
        { value, defaults, place, refusals in
            if value.isNull { return { $0[keyPath: path] = defaults[keyPath: path] } }
            guard let limit = rule.read(value) else {
                refusals.refuse(place, rule.sentence)
                return nil
            }
            return { $0[keyPath: path] = limit }
        }
    }

    private static func contentLength(
        _ value: JSONValue,
        _ defaults: ConnectionOptionValues,
        _ place: [String],
        _ refusals: Refusals
    ) -> Change? {
        if value.isNull { return { $0.contentLength = defaults.contentLength } }
        guard let bytes = value.number?.wholeNumber, (1...1_000_000_000_000).contains(bytes) else {
            refusals.refuse(place, "A number of bytes greater than 0 is expected, 1000000000000 at most.")
            return nil
        }
        return { $0.contentLength = UInt64(bytes) }
    }

    private static func forcedTransport(
        _ value: JSONValue,
        _ defaults: ConnectionOptionValues,
        _ place: [String],
        _ refusals: Refusals
    ) -> Change? {
        if value.isNull { return { $0.forcedTransport = defaults.forcedTransport } }
        guard let transport = value.string.flatMap(ForcedTransport.init(rawValue:)) else {
            let words = ForcedTransport.allCases.map(\.rawValue).joined(separator: ", ")
            refusals.refuse(place, "One of \(words) or null is expected.")
            return nil
        }
        return { $0.forcedTransport = transport }
    }

    private static func extraHeaders(
        _ value: JSONValue,
        _ defaults: ConnectionOptionValues,
        _ place: [String],
        _ refusals: Refusals
    ) -> Change? {
        if value.isNull { return { $0.httpExtraHeaders = defaults.httpExtraHeaders } }
        guard let members = value.object else {
            refusals.refuse(place, "An object of strings, or null, is expected.")
            return nil
        }
        if members.count > 100 { refusals.refuse(place, "100 headers at most are expected.") }
        for member in members.prefix(100) {
            let probe = ConnectionOptionValues.withHeader(member.name, member.value.string ?? "")
            if !member.value.isNull, member.value.string == nil {
                refusals.refuse(place + [member.name], "A string or null is expected.")
            } else if let violation = probe.violations.first {
                refusals.refuse(place + [member.name], "It \(violation.rule).")
            }
        }
        return { values in
            var headers = values.httpExtraHeaders ?? [:]
            for member in members {
                // Header names are the same whatever their case: the patch's spelling replaces the present one.
                for name in headers.keys where name.lowercased() == member.name.lowercased() { headers[name] = nil }
                headers[member.name] = member.value.string
            }
            values.httpExtraHeaders = headers.isEmpty ? nil : headers
        }
    }
}

extension ConnectionOptionValues {
    fileprivate static func withHeader(_ name: String, _ value: String) -> ConnectionOptionValues {
        var values = ConnectionOptionValues()
        values.httpExtraHeaders = [name: value]
        return values
    }
}
