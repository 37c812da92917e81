/// User and password for the authentication challenges of HTTP servers (status 401): Digest where the server offers it
/// (RFC 7616, algorithms MD5 and SHA-256, also in their session variants), else Basic (RFC 7617).
public struct HTTPCredentials: Sendable, Equatable {
    /// The user.
    public var user: String
    /// The password. It is never logged.
    public var password: String
    /// The only host that receives the credentials; nil: every host that the client connects to, control links included.
    public var host: String?

    /// Credentials.
    public init(user: String, password: String, host: String? = nil) {
        self.user = user
        self.password = password
        self.host = host
    }

    /// Whether a host may receive the credentials.
    func applies(to name: String) -> Bool { host.map { $0.lowercased() == name.lowercased() } ?? true }
}

/// A scheme with its parameters, from `WWW-Authenticate` or `Proxy-Authenticate` (RFC 9110 section 11.6.1).
struct AuthenticationScheme: Sendable, Equatable {
    let name: String
    /// The parameters by name in lower case.
    var parameters: [String: String] = [:]

    var realm: String? { parameters["realm"] }
    /// Digest: whether the peer rejects the nonce of the request alone, and not user and password.
    var isStale: Bool { parameters["stale"]?.lowercased() == "true" }

    /// Parses the values of all headers of a response, each of which may list several schemes.
    static func parse(_ headers: [String]) -> [AuthenticationScheme] {
        var schemes: [AuthenticationScheme] = []
        for piece in headers.flatMap({ pieces(of: $0) }) {
            let word = piece.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "=") }
            var parameter = piece[...]
            if word.endIndex == piece.endIndex || piece[word.endIndex] == UInt8(ascii: " ") {
                schemes.append(AuthenticationScheme(name: String(decoding: word, as: UTF8.self)))
                parameter = piece[word.endIndex...].drop { $0 == UInt8(ascii: " ") }
            }
            guard let last = schemes.indices.last, let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else {
                continue
            }
            let name = String(decoding: parameter[..<equals], as: UTF8.self).lowercased()
            schemes[last].parameters[name] = unquoted(parameter[(equals + 1)...])
        }
        return schemes
    }

    /// Splits at the commas outside of quoted strings, and removes the spaces around the pieces.
    private static func pieces(of header: String) -> [[UInt8]] {
        var pieces: [[UInt8]] = [[]]
        var (isQuoted, isEscaped) = (false, false)
        for byte in header.utf8 {
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
            if byte == UInt8(ascii: ","), !isQuoted { pieces.append([]) } else { pieces[pieces.count - 1].append(byte) }
        }
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        return pieces.map { Array($0.drop(while: isBlank).reversed().drop(while: isBlank).reversed()) }
            .filter { !$0.isEmpty }
    }

    private static func unquoted(_ value: ArraySlice<UInt8>) -> String {
        guard value.first == UInt8(ascii: "\""), value.count >= 2, value.last == UInt8(ascii: "\"") else {
            return String(decoding: value, as: UTF8.self)
        }
        var text: [UInt8] = []
        var isEscaped = false
        for byte in value.dropFirst().dropLast() {
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if !isEscaped { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The answers to a Digest challenge (RFC 7616); each answer counts the use of the server's nonce.
struct DigestAuthentication: Sendable, Equatable {
    /// The supported algorithms, the strongest first.
    private static let algorithms: [(name: String, function: MessageDigest, isForSession: Bool)] = [
        ("SHA-256", .sha256, false), ("SHA-256-sess", .sha256, true), ("MD5", .md5, false), ("MD5-sess", .md5, true),
    ]

    private let algorithm: String
    private let function: MessageDigest
    /// Whether the key of the answers is that of a session: it has the server's nonce and the first client nonce in it.
    private let isForSession: Bool
    /// Whether the challenge names the algorithm.
    private let namesAlgorithm: Bool
    private let realm: String
    private let nonce: String
    private let opaque: String?
    /// Whether the server supports the quality of protection `auth`; without it answers follow RFC 2069.
    private let usesQuality: Bool
    private let user: String
    private let password: String
    private var count = 0
    /// The client nonce of all answers of a session: servers compute the key with that of the first answer or of each.
    private var sessionNonce: String?

    /// The strongest supported challenge among those offered; nil if there is none.
    init?(_ schemes: [AuthenticationScheme], user: String, password: String) {
        let digests = schemes.filter { $0.name.lowercased() == "digest" && $0.parameters["nonce"] != nil }
        for (algorithm, function, isForSession) in Self.algorithms {
            let name = algorithm.uppercased()
            let scheme = digests.first { ($0.parameters["algorithm"] ?? "MD5").uppercased() == name }
            guard let scheme, let nonce = scheme.parameters["nonce"] else { continue }
            let qualities = scheme.parameters["qop"]?.lowercased().utf8.split(separator: UInt8(ascii: ","))
            let hasAuth = qualities?.contains { String(Substring($0)).filter { $0 != " " } == "auth" }
            // Without a quality of protection the answer has no client nonce, which the key of a session needs.
            if hasAuth == false || (isForSession && hasAuth == nil) { continue }
            (self.algorithm, self.function, self.isForSession) = (algorithm, function, isForSession)
            namesAlgorithm = scheme.parameters["algorithm"] != nil
            realm = scheme.realm ?? ""
            self.nonce = nonce
            opaque = scheme.parameters["opaque"]
            usesQuality = hasAuth ?? false
            self.user = user
            self.password = password
            return
        }
        return nil
    }

    /// The value of the `Authorization` header for a request.
    mutating func header(method: String, target: String, clientNonce: String) -> String {
        count += 1
        let digits = String(count, radix: 16)
        let nonceCount = String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits
        let clientNonce = isForSession ? sessionNonce ?? clientNonce : clientNonce
        sessionNonce = clientNonce
        let password = hash("\(user):\(realm):\(password)")
        let secret = isForSession ? hash("\(password):\(nonce):\(clientNonce)") : password
        let request = hash("\(method):\(target)")
        let response =
            usesQuality
            ? hash("\(secret):\(nonce):\(nonceCount):\(clientNonce):auth:\(request)")
            : hash("\(secret):\(nonce):\(request)")
        var parts = [
            "username=\(Self.quoted(user))", "realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))",
            "uri=\(Self.quoted(target))", "response=\"\(response)\"",
        ]
        if namesAlgorithm { parts.append("algorithm=\(algorithm)") }
        if let opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if usesQuality { parts += ["qop=auth", "nc=\(nonceCount)", "cnonce=\(Self.quoted(clientNonce))"] }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func hash(_ text: String) -> String {
        function.hash(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }
        return "\"\(escaped.joined())\""
    }
}
