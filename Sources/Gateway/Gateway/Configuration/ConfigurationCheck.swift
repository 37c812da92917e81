internal import LightstreamerClient
internal import MicroHTTPD
internal import SessionPool

/// Checks the access configuration for mistakes that a single value does not show.
enum AccessCheck {
    typealias Mistake = (key: String, rule: String)

    static func mistakes(in access: AccessConfiguration) -> [Mistake] {
        modes(access) + keys(access) + webTokens(access)
    }

    private static func modes(_ access: AccessConfiguration) -> [Mistake] {
        guard let configuredModes = access.configuredModes else { return [] }
        var mistakes: [Mistake] = []
        if configuredModes.contains(.none), !access.keys.isEmpty || access.webTokens.hasKeys {
            mistakes.append(("auth", "is none, but keys are configured: remove one of them"))
        }
        if configuredModes.contains(.keys), access.keys.isEmpty {
            mistakes.append(("auth", "requires API keys, but auth.keys has none"))
        }
        if configuredModes.contains(.jwt), !access.webTokens.hasKeys {
            mistakes.append(("auth", "requires tokens, but auth.jwt has no secret, publicKey, jwks or jwksURL"))
        }
        return mistakes
    }

    private static func keys(_ access: AccessConfiguration) -> [Mistake] {
        var mistakes: [Mistake] = []
        var hashes: Set<String> = []
        for key in access.keys {
            let place = "auth.keys.\(key.name)"
            guard let hash = key.hash else {
                mistakes.append((place + ".hash", "is required"))
                continue
            }
            if !hashes.insert(hash.description).inserted {
                mistakes.append((place + ".hash", "is also the hash of another key"))
            }
        }
        return mistakes
    }

    private static func webTokens(_ access: AccessConfiguration) -> [Mistake] {
        let keys: [WritableKeyPath<WebTokenConfiguration, String?>] = [\.secret, \.publicKey, \.keySet]
        return keys.compactMap { key in
            // The first mistake ends the reading, so each key is read alone.
            var tokens = WebTokenConfiguration()
            tokens[keyPath: key] = access.webTokens[keyPath: key]
            do throws(KeyMaterial.Mistake) {
                _ = try KeyMaterial.read(tokens)
                return nil
            } catch {
                return ("auth.jwt.\(error.member)", error.rule)
            }
        }
    }
}

/// Checks the certificate of the HTTP server, as the server itself would at its start.
enum CertificateCheck {
    /// The rule that a certificate breaks; nil: none.
    static func violation(of certificate: DaemonConfiguration.Certificate?) -> String? {
        guard let certificate else { return nil }
        if certificate.chain.isEmpty { return "is required where http.tls.key is given" }
        if certificate.key.isEmpty { return "needs http.tls.key beside it" }
        if !certificate.chain.contains("-----BEGIN CERTIFICATE-----") { return "must be a certificate in PEM" }
        if !certificate.key.contains("PRIVATE KEY-----") { return "needs a private key in PEM as http.tls.key" }
        if certificate.key.contains("ENCRYPTED") { return "needs a private key that is not encrypted" }
        return certificate.refusal.map { "cannot be used with http.tls.key: \($0)" }
    }
}

/// Checks the values of an upstream with the client library.
enum UpstreamCheck {
    static func mistakes(in upstream: UpstreamConfiguration) -> [(key: String, rule: String)] {
        let missing = missingParts(of: upstream)
        var configuration = ClientConfiguration()
        upstream.apply(to: &configuration)
        // Half of an identity cannot be used.
        if missing.contains(where: { $0.member.hasPrefix("tls.") }) { configuration.tls.identity = nil }
        // The first mistake ends the configuration of a client, so each part is tried with a client of its own.
        let parts = [
            mistake { () throws(ClientError) in _ = try LightstreamerClient(serverAddress: upstream.serverAddress) },
            mistake { () throws(ClientError) in _ = try LightstreamerClient(configuration: configuration) },
            mistake { () throws(ClientError) in
                try LightstreamerClient().connectionOptions.update { $0 = upstream.options }
            },
        ]
        let pins = upstream.certificatePins.compactMap { pin in
            mistake { () throws(ClientError) in
                try LightstreamerClient().connectionDetails.setCertificatePins([pin])
            }.map { ($0.member, "\"\(pin)\" \($0.rule)") }
        }
        return (missing + parts.compactMap(\.self) + pins).map { ("upstreams.\(upstream.name).\($0.member)", $0.rule) }
    }

    /// A mistake with the part of its key behind the name.
    private typealias Mistake = (member: String, rule: String)

    private static func missingParts(of upstream: UpstreamConfiguration) -> [Mistake] {
        var mistakes: [Mistake] = []
        if let identity = upstream.tls.identity {
            if identity.certificateChain.isEmpty {
                mistakes.append(("tls.certificate", "is required where tls.key is set"))
            }
            if identity.privateKey.isEmpty { mistakes.append(("tls.key", "is required where tls.certificate is set")) }
        }
        if let proxy = upstream.proxy, proxy.host.isEmpty {
            mistakes.append(("proxy.address", "is required where proxy.user or proxy.password is set"))
        }
        if let credentials = upstream.httpCredentials, credentials.user.isEmpty {
            mistakes.append(("http.user", "is required where http.password is set"))
        }
        return mistakes
    }

    private static func mistake(in attempt: () throws(ClientError) -> Void) -> Mistake? {
        do throws(ClientError) {
            try attempt()
            return nil
        } catch {
            switch error.property {
            case "serverAddress"?: return ("serverAddress", error.rule)
            case "certificatePins"?: return ("tls.pins", error.rule)
            case "tls"?: return ("tls", error.rule)
            default: return ("options", "\(error)")
            }
        }
    }
}
