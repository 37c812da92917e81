internal import Glibc
internal import MicroHTTPD

/// A self-signed certificate, made by `openssl`.
struct TestCertificate {
    let certificate: DaemonConfiguration.Certificate

    init(
        commonName: String = "localhost",
        key: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    ) throws {
        // Both come on its standard output, one after the other.
        let openssl = try ChildProcess(
            ["openssl", "req", "-x509", "-newkey"] + key + [
                "-nodes", "-days", "2", "-subj", "/CN=\(commonName)", "-keyout", "/dev/stdout", "-out", "/dev/stdout",
            ]
        )
        var bytes: [UInt8] = []
        while case let more = openssl.readMore(), !more.isEmpty { bytes += more }
        openssl.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self)
        certificate = DaemonConfiguration.Certificate(chain: text, key: text)
    }
}
