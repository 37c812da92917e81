internal import CGnuTLS

extension DaemonConfiguration.Certificate {
    /// The interval in which all certificates of the chain are valid, in seconds since 1970; nil if the chain cannot be read.
    package var validity: (start: Int, end: Int)? {
        var certificates = [gnutls_x509_crt_t?](repeating: nil, count: Self.longestChain)
        var count = UInt32(certificates.count)
        let code = Self.withDatum(chain) {
            gnutls_x509_crt_list_import(&certificates, &count, $0, GNUTLS_X509_FMT_PEM, 0)
        }
        guard code > 0 else { return nil }
        let chain = certificates.prefix(Int(code)).compactMap(\.self)
        defer { chain.forEach { gnutls_x509_crt_deinit($0) } }
        let starts = chain.map { gnutls_x509_crt_get_activation_time($0) }
        let ends = chain.map { gnutls_x509_crt_get_expiration_time($0) }
        guard let start = starts.max(), let end = ends.min() else { return nil }
        return (start, end)
    }

    /// The number of certificates that are looked at: GnuTLS verifies no longer chain by default.
    private static let longestChain = 16
}
