public import SessionCore

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
            guard value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
                return refusal(of: name, rule: "must hold header values without control characters")
            }
        }
        return nil
    }

    /// The error for a value that breaks a rule.
    func refusal(of value: String, rule: String? = nil) -> ClientError {
        ClientError(.invalidValue, property: name, value: value, rule: rule ?? limits)
    }

    /// The bytes of a `token` (RFC 9110 section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension ConnectionOptionValues {
    /// Every value that the class reference refuses, in its order; empty for valid options.
    public var violations: [ClientError] { ConnectionOption.all.compactMap { $0.violation(in: self) } }
}
