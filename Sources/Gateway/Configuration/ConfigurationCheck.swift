internal import LightstreamerClient
internal import MicroHTTPD
internal import SessionPool

/// Finds what is wrong with who may come in, beyond what a single value shows.
enum AccessCheck {
    /// A mistake, by the key that it is about.
    typealias Mistake = (key: String, rule: String)

    /// All mistakes.
    static func mistakes(in access: AccessConfiguration) -> [Mistake] {
        modes(access) + keys(access) + webTokens(access)
    }

    private static func modes(_ access: AccessConfiguration) -> [Mistake] {
        guard let written = access.written else { return [] }
        var mistakes: [Mistake] = []
        if written.contains(.none), !access.keys.isEmpty || access.webTokens.hasKeys {
            mistakes.append(("auth", "is none, but keys are configured: take one of both away"))
        }
        if written.contains(.keys), access.keys.isEmpty {
            mistakes.append(("auth", "asks for API keys, but auth.keys names none"))
        }
        if written.contains(.jwt), !access.webTokens.hasKeys {
            mistakes.append(("auth", "asks for tokens, but auth.jwt has no secret, publicKey or jwks"))
        }
        return mistakes
    }

    private static func keys(_ access: AccessConfiguration) -> [Mistake] {
        var mistakes: [Mistake] = []
        var hashes: Set<String> = []
        for key in access.keys {
            let place = "auth.keys.\(key.name)"
            if !isName(key.name) {
                mistakes.append((place, "must be named by 1 to 64 letters, digits, dashes and underscores"))
            }
            guard let hash = key.hash else {
                mistakes.append((place + ".hash", "is required"))
                continue
            }
            if !hashes.insert(hash.description).inserted {
                mistakes.append((place + ".hash", "is that of another key as well"))
            }
        }
        return mistakes
    }

    private static func webTokens(_ access: AccessConfiguration) -> [Mistake] {
        do throws(KeyMaterial.Mistake) {
            _ = try KeyMaterial.read(access.webTokens)
            return []
        } catch {
            return [("auth.jwt.\(error.member)", error.rule)]
        }
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }
}

/// Looks at a certificate as far as that can be done without using it.
enum CertificateCheck {
    /// The rule that is broken; nil if none is.
    static func violation(of certificate: DaemonConfiguration.Certificate?) -> String? {
        guard let certificate else { return nil }
        if certificate.chain.isEmpty { return "is required where http.tls.key is given" }
        if certificate.key.isEmpty { return "needs http.tls.key beside it" }
        if !certificate.chain.contains("-----BEGIN CERTIFICATE-----") { return "must be a certificate in PEM" }
        if !certificate.key.contains("PRIVATE KEY-----") { return "needs a private key in PEM as http.tls.key" }
        if certificate.key.contains("ENCRYPTED") { return "needs a private key that is not encrypted" }
        return nil
    }
}

/// Holds an upstream's values against the rules of the client library.
enum UpstreamCheck {
    /// The rule that the upstream breaks; nil if it breaks none.
    static func violation(of upstream: UpstreamConfiguration) -> String? {
        do throws(ClientError) {
            let client = try LightstreamerClient(serverAddress: upstream.serverAddress, adapterSet: upstream.adapterSet)
            try client.connectionOptions.update { $0 = upstream.options }
            return nil
        } catch {
            return error.property == "serverAddress" ? error.rule : "\(error)"
        }
    }
}

/// What the gateway may be told to listen on.
enum ListeningAddress {
    /// Whether an address can be reached from this machine only. Names other than `localhost` are not looked up.
    static func isLoopback(_ host: String) -> Bool {
        let host = host.lowercased()
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
