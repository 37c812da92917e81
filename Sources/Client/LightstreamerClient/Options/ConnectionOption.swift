internal import Primitives
public import SessionCore

/// The description of one connection option: name, type, limits, defaults, meaning, and when a change takes effect.
///
/// The REST views and patches, the upstream options of the configuration and the tables of the documentation are made
/// from these descriptions or tested against them.
package struct ConnectionOption: Sendable {
    package typealias Path<Value> = any WritableKeyPath<ConnectionOptionValues, Value> & Sendable

    /// The type of an option, with the place of its value.
    package enum Storage: Sendable {
        /// A number of seconds; `zeroAllowed`: 0 is a valid value.
        case seconds(Path<Double>, zeroAllowed: Bool)
        /// A number of bytes greater than 0.
        case bytes(Path<UInt64>)
        case flag(Path<Bool>)
        case transport(Path<ForcedTransport?>)
        /// Header names with their values, or nil.
        case headers(Path<[String: String]?>)
        /// `unlimited`, or a number of kbit/s greater than 0.
        case bandwidth(Path<RequestedMaxBandwidth>)
        /// `auto`, or a number of seconds greater than 0.
        case connectTimeout(Path<ConnectTimeout>)
    }

    /// When a change of an option takes effect.
    package enum Effect: String, Sendable, CaseIterable {
        /// At once, also for an open session.
        case immediately = "at once"
        /// The next time that the value is needed: when its timer starts or its request is sent.
        case nextUse = "at the next use"
        /// When the next connection is opened or bound to the session.
        case nextConnection = "with the next connection"
        /// When the next session is created.
        case nextSession = "with the next session"
    }

    /// The name of the class reference, as `didChangeProperty` reports it.
    package let name: String
    /// The type and the place of the value.
    package let storage: Storage
    package let effect: Effect
    /// The meaning, in one sentence or two.
    package private(set) var meaning = ""

    init(_ name: String, _ storage: Storage, _ effect: Effect) {
        self.name = name
        self.storage = storage
        self.effect = effect
    }

    consuming func means(_ meaning: String) -> ConnectionOption {
        self.meaning = meaning
        return self
    }
}

// MARK: - Values

extension ConnectionOption {
    /// Whether two sets of options differ in this option.
    package func differs(_ one: ConnectionOptionValues, _ other: ConnectionOptionValues) -> Bool {
        if case .headers = storage { return !one.hasSameHeaders(as: other) }
        var copy = one
        self.copy(from: other, to: &copy)
        return copy != one
    }

    /// Copies this option from one set of options into another.
    package func copy(from source: ConnectionOptionValues, to target: inout ConnectionOptionValues) {
        switch storage {
        case .seconds(let path, _): target[keyPath: path] = source[keyPath: path]
        case .bytes(let path): target[keyPath: path] = source[keyPath: path]
        case .flag(let path): target[keyPath: path] = source[keyPath: path]
        case .transport(let path): target[keyPath: path] = source[keyPath: path]
        case .headers(let path): target[keyPath: path] = source[keyPath: path]
        case .bandwidth(let path): target[keyPath: path] = source[keyPath: path]
        case .connectTimeout(let path): target[keyPath: path] = source[keyPath: path]
        }
    }

    /// The value as text: numbers without a useless fraction, `none` for nil. Header values are left out.
    package func text(in values: ConnectionOptionValues) -> String {
        switch storage {
        case .seconds(let path, _): NumberText.of(values[keyPath: path])
        case .bytes(let path): "\(values[keyPath: path])"
        case .flag(let path): "\(values[keyPath: path])"
        case .transport(let path): values[keyPath: path]?.rawValue ?? "none"
        case .headers(let path): values[keyPath: path]?.keys.sorted().joined(separator: ", ") ?? "none"
        case .bandwidth(let path): values[keyPath: path].text
        case .connectTimeout(let path): values[keyPath: path].text
        }
    }

    /// Reads the value from text, as `text(in:)` writes it; header fields are lines of `Name: value`.
    ///
    /// - Throws: `invalidValue` for a text of another form, or for a value outside the limits.
    package func read(_ text: String, into target: inout ConnectionOptionValues) throws(ClientError) {
        var values = target
        switch storage {
        case .seconds(let path, _):
            guard let seconds = NumberText.plain(text) else { throw refusal(of: text) }
            values[keyPath: path] = seconds
        case .bytes(let path):
            guard let bytes = NumberText.positiveInteger(text) else { throw refusal(of: text) }
            values[keyPath: path] = UInt64(bytes)
        case .flag(let path): values[keyPath: path] = try flag(text)
        case .transport(let path):
            guard let transport = ForcedTransport(rawValue: text) else { throw refusal(of: text) }
            values[keyPath: path] = transport
        case .headers(let path): values[keyPath: path] = try headerFields(text)
        case .bandwidth(let path): values[keyPath: path] = try RequestedMaxBandwidth(text: text)
        case .connectTimeout(let path): values[keyPath: path] = try ConnectTimeout(text: text)
        }
        if let violation = violation(in: values) { throw violation }
        target = values
    }

    private func flag(_ text: String) throws(ClientError) -> Bool {
        switch text {
        case "true": true
        case "false": false
        default: throw refusal(of: text)
        }
    }

    private func headerFields(_ text: String) throws(ClientError) -> [String: String] {
        var headers: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            if line.allSatisfy({ $0 == " " }) { continue }
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.last?.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            guard parts.count == 2, let value, headers.updateValue(String(value), forKey: String(parts[0])) == nil
            else {
                // The text may hold a secret.
                throw .invalid(name, "", "must be lines of Name: value")
            }
        }
        return headers
    }
}

// MARK: - Limits

extension ConnectionOption {
    /// The longest time that an option can be set to, in seconds: about 31 years.
    package static let longestTime = 1e9
    /// The largest `contentLength`, in bytes.
    package static let mostBytes: UInt64 = 1_000_000_000_000
    /// The most header fields that `httpExtraHeaders` can hold.
    package static let mostHeaders = 100

    /// The largest size of these header fields together, names and values, in bytes.
    package static let mostHeaderBytes = 16 * 1024

    /// The unit of the number; nil for other types.
    private var unit: String? {
        switch storage {
        case .seconds, .connectTimeout: "seconds"
        case .bytes: "bytes"
        case .bandwidth: "kbit/s"
        case .flag, .transport, .headers: nil
        }
    }

    /// The rule for values, as the end of a sentence that begins with the name of the option.
    package var limits: String {
        let number = "a number of \(unit ?? "")"
        return switch storage {
        case .seconds(_, zeroAllowed: true): "must be \(number), 0 or greater"
        case .seconds(_, zeroAllowed: false), .bytes: "must be \(number) greater than 0"
        case .flag: "must be true or false"
        case .transport: "must be one of \(ForcedTransport.allCases.map(\.rawValue).joined(separator: ", "))"
        case .headers: "must hold valid header fields"
        case .bandwidth: "must be unlimited or \(number) greater than 0"
        case .connectTimeout: "must be auto or \(number) greater than 0"
        }
    }

    /// The error for a value outside the limits; nil for a valid value.
    package func violation(in values: ConnectionOptionValues) -> ClientError? {
        switch storage {
        case .seconds(let path, let zeroAllowed): violation(ofSeconds: values[keyPath: path], zeroAllowed)
        case .bytes(let path):
            (1...UInt64(Int64.max)).contains(values[keyPath: path]) ? nil : refusal(of: "\(values[keyPath: path])")
        case .flag, .transport: nil
        case .headers(let path): violation(of: values[keyPath: path] ?? [:])
        case .bandwidth(let path): violation(of: values[keyPath: path])
        case .connectTimeout(let path):
            if case .seconds(let seconds) = values[keyPath: path] { violation(ofSeconds: seconds, false) } else { nil }
        }
    }

    private func violation(ofSeconds seconds: Double, _ zeroAllowed: Bool) -> ClientError? {
        let isValid = seconds.isFinite && (seconds > 0 || (zeroAllowed && seconds == 0)) && seconds <= Self.longestTime
        return isValid ? nil : refusal(of: "\(seconds)")
    }

    private func violation(of bandwidth: RequestedMaxBandwidth) -> ClientError? {
        guard case .limited(let limit) = bandwidth, !(limit.isFinite && limit > 0) else { return nil }
        return refusal(of: "\(limit)")
    }

    /// Header fields that the transports set, or that other properties set.
    private static let reserved: Set<String> = [
        "connection", "content-length", "content-type", "cookie", "host", "transfer-encoding", "upgrade",
    ]

    /// The value of a header field may be a secret, so errors only name the field.
    private func violation(of headers: [String: String]) -> ClientError? {
        let bytes = headers.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard headers.count <= Self.mostHeaders, bytes <= Self.mostHeaderBytes else {
            let most = "\(Self.mostHeaders) header fields of \(Self.mostHeaderBytes) bytes"
            return refusal(of: "\(headers.count) fields of \(bytes) bytes", rule: "must hold at most \(most) together")
        }
        for (name, value) in headers {
            let lowered = name.lowercased()
            if Self.reserved.contains(lowered) || lowered.hasPrefix("sec-websocket-") {
                return refusal(of: name, rule: "must not hold a header that the library itself sets")
            }
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
                return refusal(of: name, rule: "must hold valid header names")
            }
            guard value.utf8.allSatisfy({ !$0.isASCIIControl || $0 == 0x09 }) else {
                return refusal(of: name, rule: "must hold header values without control characters")
            }
        }
        return nil
    }

    func refusal(of value: String, rule: String? = nil) -> ClientError {
        .invalid(name, value, rule ?? limits)
    }

    /// The bytes of a `token` (RFC 9110 section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

extension ConnectionOptionValues {
    /// Every value that the class reference refuses, in its order; empty for valid options.
    public var violations: [ClientError] { ConnectionOption.all.compactMap { $0.violation(in: self) } }
}
