internal import LightstreamerClient
internal import MicroHTTPD
internal import SessionPool

/// Checks the access configuration for mistakes that a single value does not show.
enum AccessCheck {
    /// A mistake with its key.
    typealias Mistake = (key: String, rule: String)

    /// All mistakes.
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
        do throws(KeyMaterial.Mistake) {
            _ = try KeyMaterial.read(access.webTokens)
            return []
        } catch {
            return [("auth.jwt.\(error.member)", error.rule)]
        }
    }
}

/// Checks the certificate of the HTTP server, as the server itself would at its start.
enum CertificateCheck {
    /// The rule that it breaks; nil if it breaks none.
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
    /// The first mistake, with the part of the key behind the name; nil if there is none.
    static func mistake(in upstream: UpstreamConfiguration) -> (member: String, rule: String)? {
        if let identity = upstream.tls.identity {
            if identity.certificateChain.isEmpty { return ("tls.certificate", "is required where tls.key is set") }
            if identity.privateKey.isEmpty { return ("tls.key", "is required where tls.certificate is set") }
        }
        if let proxy = upstream.proxy, proxy.host.isEmpty {
            return ("proxy.address", "is required where proxy.user or proxy.password is set")
        }
        if let credentials = upstream.httpCredentials, credentials.user.isEmpty {
            return ("http.user", "is required where http.password is set")
        }
        do throws(ClientError) {
            var configuration = ClientConfiguration()
            upstream.apply(to: &configuration)
            let client = try LightstreamerClient(
                serverAddress: upstream.serverAddress,
                adapterSet: upstream.adapterSet,
                configuration: configuration
            )
            try upstream.apply(to: client)
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
