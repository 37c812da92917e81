internal import MicroHTTPD

/// The id of a request: the caller's, where it is harmless, or a new one.
enum RequestIdentity {
    /// The id of a request.
    static func id(of request: HTTPRequest) -> String {
        if let given = request.headers["X-Request-Id"], isHarmless(given) { return given }
        return make()
    }

    /// A new id.
    static func make() -> String { "r" + String(UInt64.random(in: .min ... .max), radix: 16) }

    /// The trace id of a `traceparent` (W3C Trace Context); nil without one that makes sense.
    static func trace(of request: HTTPRequest) -> String? {
        guard let header = request.headers["traceparent"] else { return nil }
        let parts = header.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].utf8.count == 2, parts[0] != "ff", parts[1].utf8.count == 32,
            parts[2].utf8.count == 16, parts[3].utf8.count == 2,
            parts.prefix(4).allSatisfy({ $0.utf8.allSatisfy(isLowerHex) }),
            parts[1].utf8.contains(where: { $0 != UInt8(ascii: "0") })
        else { return nil }
        return String(parts[1])
    }

    /// Up to 128 visible characters that mean nothing in a log line or a header.
    private static func isHarmless(_ id: String) -> Bool {
        (1...128).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-_.:+/=@".utf8.contains(byte)
            }
    }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
