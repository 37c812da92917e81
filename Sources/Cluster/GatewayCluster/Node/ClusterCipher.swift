internal import Crypto
internal import Foundation
internal import Gateway
internal import Replication

/// Encrypts messages between members, and tickets, with a key from the cluster's secret, because they carry credentials
/// and rights.
struct ClusterCipher: Sendable {
    /// The reason for which bytes of another member cannot be decrypted.
    static let mismatch = "it was encrypted with another cluster.secret"

    private let key: SymmetricKey

    /// A key for one purpose: it cannot decrypt what was encrypted for another purpose.
    init(secret: String, purpose: String) {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(purpose.utf8),
            using: SymmetricKey(data: Array(secret.utf8))
        )
        key = SymmetricKey(data: Array(code))
    }

    /// A keyed digest of bytes, which names them in the log: only holders of the secret can compute it.
    func digest(of bytes: [UInt8]) -> RecordKey {
        let code = Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
        let numbers = [code[0..<8], code[8..<16]].map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        return RecordKey(high: numbers[0], low: numbers[1])
    }

    /// The encrypted bytes.
    ///
    /// - Parameter context: Bytes that are not part of the result, and without which it does not decrypt.
    func encrypt(_ bytes: [UInt8], with context: [UInt8] = []) -> [UInt8] {
        // Encryption fails for a nonce or key of another size only.
        guard let box = try? AES.GCM.seal(bytes, using: key, authenticating: context).combined else { return [] }
        return Array(box)
    }

    /// The decrypted bytes; nil if they were encrypted with another key or context, or changed.
    func decrypt(_ bytes: [UInt8], with context: [UInt8] = []) -> [UInt8]? {
        guard let box = try? AES.GCM.SealedBox(combined: bytes),
            let opened = try? AES.GCM.open(box, using: key, authenticating: context)
        else { return nil }
        return Array(opened)
    }
}
