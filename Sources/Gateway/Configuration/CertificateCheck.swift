internal import MicroHTTPD

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
