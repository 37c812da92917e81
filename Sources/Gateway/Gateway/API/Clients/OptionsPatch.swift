internal import JSONText
internal import LightstreamerClient
internal import SessionCore

/// A merge patch of connection options, applied as a whole or not at all.
struct OptionsPatch: Sendable {
    private typealias Change = @Sendable (inout ConnectionOptionValues) -> Void

    private let changes: [Change]

    /// Reads a patch. `defaults` holds the values that null restores. Each refused member is added to
    /// the reader's list.
    ///
    /// - Parameter mostHeaders: How many header fields the patch may name.
    init(_ reader: ObjectReader, defaults: ConnectionOptionValues, mostHeaders: Int = ConnectionOption.mostHeaders) {
        var changes: [Change] = []
        for option in ConnectionOption.all {
            guard let value = reader.object[option.name] else { continue }
            if value.isNull {
                changes.append { option.copy(from: defaults, to: &$0) }
            } else if let change = Self.change(
                of: option,
                to: value,
                at: reader.path + [option.name],
                mostHeaders,
                reader.refusals
            ) {
                changes.append(change)
            }
        }
        reader.allow(only: Set(ConnectionOption.all.map(\.name)), readOnly: ["realMaxBandwidth", "requested"])
        self.changes = changes
    }

    func apply(to values: inout ConnectionOptionValues) { for change in changes { change(&values) } }

    /// Sets the options of a client. Throws, without any change, if the class reference forbids a value.
    func apply(to options: ConnectionOptions) throws(ClientError) {
        try options.update { values in apply(to: &values) }
    }

    // MARK: - Types of options

    private static func change(
        of option: ConnectionOption,
        to value: JSONValue,
        at place: [String],
        _ mostHeaders: Int,
        _ refusals: Refusals
    ) -> Change? {
        let change: Change? =
            switch option.storage {
            case .seconds(let path, let zeroAllowed): seconds(value, zeroAllowed).map { set(path, to: $0) }
            case .bytes(let path): bytes(value).map { set(path, to: $0) }
            case .flag(let path): value.bool.map { set(path, to: $0) }
            case .transport(let path):
                value.string.flatMap(ForcedTransport.init(rawValue:)).map { set(path, to: $0) }
            case .bandwidth(let path): RequestedMaxBandwidth(json: value).map { set(path, to: $0) }
            case .connectTimeout(let path): ConnectTimeout(json: value).map { set(path, to: $0) }
            case .headers(let path):
                if let members = value.object { headers(members, mostHeaders, path, place, refusals) } else { nil }
            }
        if change == nil { refusals.refuse(place, expectation(of: option)) }
        return change
    }

    private static func set<Value: Sendable>(_ path: ConnectionOption.Path<Value>, to value: Value) -> Change {
        { $0[keyPath: path] = value }
    }

    private static func seconds(_ value: JSONValue, _ zeroAllowed: Bool) -> Double? {
        guard let seconds = value.number?.doubleValue, seconds > 0 || (zeroAllowed && seconds == 0),
            seconds <= ConnectionOption.longestTime
        else { return nil }
        return seconds
    }

    private static func bytes(_ value: JSONValue) -> UInt64? {
        value.number?.wholeNumber.flatMap { UInt64(exactly: $0) }
            .flatMap { (1...ConnectionOption.mostBytes).contains($0) ? $0 : nil }
    }

    private static func expectation(of option: ConnectionOption) -> String {
        switch option.storage {
        case .seconds(_, let zeroAllowed):
            let least = zeroAllowed ? "not less than 0" : "greater than 0"
            return "A number of seconds \(least) is expected, \(Int(ConnectionOption.longestTime)) at most."
        case .bytes: return "A number of bytes greater than 0 is expected, \(ConnectionOption.mostBytes) at most."
        case .flag: return "true, false or null is expected."
        case .transport:
            return "One of \(ForcedTransport.allCases.map(\.rawValue).joined(separator: ", ")) or null is expected."
        case .headers: return "An object of strings, or null, is expected."
        case .bandwidth: return RequestedMaxBandwidth.expectation(in: .body)
        case .connectTimeout: return ConnectTimeout.expectation(in: .body)
        }
    }

    private static func headers(
        _ members: JSONObject,
        _ most: Int,
        _ path: ConnectionOption.Path<[String: String]?>,
        _ place: [String],
        _ refusals: Refusals
    ) -> Change {
        if members.count > most { refusals.refuse(place, "\(most) headers at most are expected.") }
        var whole = ConnectionOptionValues()
        whole[keyPath: path] = [:]
        for member in members.prefix(most) {
            var probe = ConnectionOptionValues()
            probe[keyPath: path] = [member.name: member.value.string ?? ""]
            if !member.value.isNull, member.value.string == nil {
                refusals.refuse(place + [member.name], "A string or null is expected.")
            } else if let violation = probe.violations.first {
                refusals.refuse(place + [member.name], "It \(violation.rule).")
            } else {
                whole[keyPath: path]?[member.name] = member.value.string
            }
        }
        // Header fields that are valid one by one can be too large together.
        if let violation = whole.violations.first { refusals.refuse(place, "It \(violation.rule).") }
        return { values in
            var headers = values[keyPath: path] ?? [:]
            for member in members {
                // Header names are case-insensitive: the spelling in the patch replaces the present one.
                for name in headers.keys where name.lowercased() == member.name.lowercased() { headers[name] = nil }
                headers[member.name] = member.value.string
            }
            values[keyPath: path] = headers.isEmpty ? nil : headers
        }
    }
}
