internal import CGnuTLS

/// Whether and when a certificate is valid, as GnuTLS determines it.
extension DaemonConfiguration.Certificate {
    /// The reason for which a daemon could not start with this certificate and key, in the words of GnuTLS; nil if it could.
    package var refusal: String? {
        var credentials: gnutls_certificate_credentials_t?
        var code = gnutls_certificate_allocate_credentials(&credentials)
        guard code >= 0, let credentials else { return Self.text(for: code) }
        defer { gnutls_certificate_free_credentials(credentials) }
        code = Self.withDatum(chain) { chain in
            Self.withDatum(key) { key in
                gnutls_certificate_set_x509_key_mem(credentials, chain, key, GNUTLS_X509_FMT_PEM)
            }
        }
        return code < 0 ? Self.text(for: code) : nil
    }

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

    private static func withDatum(_ text: String, _ body: (UnsafePointer<gnutls_datum_t>) -> Int32) -> Int32 {
        var bytes = Array(text.utf8)
        return bytes.withUnsafeMutableBufferPointer { buffer in
            var datum = gnutls_datum_t(data: buffer.baseAddress, size: UInt32(clamping: buffer.count))
            return body(&datum)
        }
    }

    /// The text for an error of GnuTLS, without its full stop.
    private static func text(for code: Int32) -> String {
        let text = gnutls_strerror(code).map(String.init(cString:)) ?? "error \(code)"
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
}
