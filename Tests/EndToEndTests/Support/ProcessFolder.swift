internal import Foundation

/// A folder of files for one process, removed at the end.
final class ProcessFolder: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gateway-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The path of a file.
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Writes a file; returns its path.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: path(name), atomically: true, encoding: .utf8)
        return path(name)
    }

    /// Makes a self-signed certificate with its key as `certificate.pem` and `key.pem`.
    func makeCertificate(_ name: String) async throws {
        let openssl = try await run(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-days", "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1",
                "-keyout", path("key.pem"), "-out", path("certificate.pem"),
            ]
        )
        guard openssl.status == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}
