internal import SessionCore

/// The value rules of the connection options. Each gives nil for an admitted value, else the value as text and the
/// rule that it breaks.
enum OptionRules {
    /// The longest time that can be asked for: about 31 years; what lies beyond is a mistake in units.
    static let longest = 1e9

    static func positive(_ seconds: Double) -> (value: String, rule: String)? {
        guard seconds.isFinite, seconds > 0, seconds <= longest else {
            return ("\(seconds)", "must be a number of seconds greater than 0")
        }
        return nil
    }

    static func notNegative(_ seconds: Double) -> (value: String, rule: String)? {
        guard seconds.isFinite, seconds >= 0, seconds <= longest else {
            return ("\(seconds)", "must be a number of seconds, 0 or greater")
        }
        return nil
    }

    static func connectTimeout(_ timeout: ConnectTimeout) -> (value: String, rule: String)? {
        guard case .seconds(let seconds) = timeout, let broken = positive(seconds) else { return nil }
        return (broken.value, "must be auto or a number of seconds greater than 0")
    }

    static func contentLength(_ bytes: UInt64) -> (value: String, rule: String)? {
        guard bytes > 0, bytes <= UInt64(Int64.max) else {
            return ("\(bytes)", "must be a number of bytes greater than 0")
        }
        return nil
    }

    static func bandwidth(_ bandwidth: RequestedMaxBandwidth) -> (value: String, rule: String)? {
        guard case .limited(let limit) = bandwidth, !(limit.isFinite && limit > 0) else { return nil }
        return ("\(limit)", "must be unlimited or a number of kbit/s greater than 0")
    }

    /// Headers that belong to the transports, or that other means exist for.
    private static let reserved: Set<String> = [
        "connection", "content-length", "content-type", "cookie", "host", "transfer-encoding", "upgrade",
    ]

    static func extraHeaders(_ headers: [String: String]?) -> (value: String, rule: String)? {
        for (name, value) in headers ?? [:] {
            let lowered = name.lowercased()
            if reserved.contains(lowered) || lowered.hasPrefix("sec-websocket-") {
                return (name, "must not hold a header that the library itself sets")
            }
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else {
                return (name, "must hold valid header names")
            }
            guard value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
                // The value may be a secret; the name says enough.
                return (name, "must hold header values without control characters")
            }
        }
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
