import Crypto
import CryptoExtras
import Foundation
import Testing

@testable import Cryptography

/// Public keys, against another implementation.
struct PublicKeyTests {
    private static let message = Array("header.claims".utf8)

    private static func rsaKey() throws -> _RSA.Signing.PrivateKey { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    private static func pem(_ bytes: [UInt8]) -> String {
        "-----BEGIN RSA PUBLIC KEY-----\n\(Data(bytes).base64EncodedString())\n-----END RSA PUBLIC KEY-----"
    }

    @Test func signaturesOnTheCurveAreVerified() throws {
        let (ours, other) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let key = try #require(PublicKey(pem: ours.publicKey.pemRepresentation))
        #expect(key.kind == .p256)
        #expect(key.bits == 256)
        #expect(key.pem == ours.publicKey.pemRepresentation)
        let point = Array(ours.publicKey.x963Representation)
        #expect(PublicKey(x: Array(point[1...32]), y: Array(point[33...])) == key)

        for _ in 0..<20 {
            let signature = Array(try ours.signature(for: Self.message).rawRepresentation)
            #expect(key.verifies(signature, of: Self.message))
            #expect(!key.verifies(signature, of: Self.message + [0]))
            #expect(!key.verifies(Array(signature.dropLast()), of: Self.message))
            #expect(!key.verifies(signature + [0], of: Self.message))
        }
        #expect(!key.verifies(Array(try other.signature(for: Self.message).rawRepresentation), of: Self.message))
        #expect(!key.verifies(Array(try ours.signature(for: Self.message).derRepresentation), of: Self.message))
        for bytes in [[], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 255, count: 64)] as [[UInt8]] {
            #expect(!key.verifies(bytes, of: Self.message))
        }
    }

    @Test func signaturesOfRSAAreVerified() throws {
        let (ours, other) = (try Self.rsaKey(), try Self.rsaKey())
        let numbers = try ours.publicKey.getKeyPrimitives()
        let key = try #require(PublicKey(modulus: Array(numbers.modulus), exponent: Array(numbers.publicExponent)))
        #expect(key.kind == .rsa)
        #expect(key.bits == 2048)
        #expect(key.pem == ours.publicKey.pemRepresentation)
        #expect(PublicKey(pem: ours.publicKey.pemRepresentation) == key)
        #expect(PublicKey(pem: ours.publicKey.pkcs1PEMRepresentation) == key)
        #expect(PublicKey(pem: key.pem.replacingOccurrences(of: "\n", with: "\r\n") + "\r\n") == key)
        #expect(PublicKey(pem: key.pem.replacingOccurrences(of: "PUBLIC KEY", with: "RSA PUBLIC KEY")) == key)
        #expect(PublicKey(pem: "Bag Attributes\n  name: one\n" + key.pem + "\n  \nmore\n") == key)
        #expect(PublicKey(pem: key.pem.replacingOccurrences(of: "\n", with: " \n\n ")) == key)
        #expect(
            PublicKey(modulus: [0] + Array(numbers.modulus), exponent: [0, 0] + Array(numbers.publicExponent)) == key
        )

        func signature(_ key: _RSA.Signing.PrivateKey, _ padding: _RSA.Signing.Padding) throws -> [UInt8] {
            Array(try key.signature(for: Crypto.SHA256.hash(data: Self.message), padding: padding).rawRepresentation)
        }
        let valid = try signature(ours, .insecurePKCS1v1_5)
        #expect(key.verifies(valid, of: Self.message))
        #expect(!key.verifies(valid, of: Self.message + [0]))
        #expect(!key.verifies(Array(valid.dropLast()), of: Self.message))
        #expect(!key.verifies(try signature(ours, .PSS), of: Self.message))
        #expect(!key.verifies(try signature(other, .insecurePKCS1v1_5), of: Self.message))
        #expect(!key.verifies([], of: Self.message))
        #expect(!key.verifies([UInt8](repeating: 0, count: 256), of: Self.message))
    }

    @Test func otherKeysAreNotRead() throws {
        let numbers = try Self.rsaKey().publicKey.getKeyPrimitives()
        let modulus = Array(numbers.modulus)
        for exponent in [[], [0], [1], [4], [2, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0, 1]] as [[UInt8]] {
            #expect(PublicKey(modulus: modulus, exponent: exponent) == nil, "exponent \(exponent)")
        }
        for modulus in [[], [0], modulus.dropLast() + [modulus[modulus.count - 1] & 0xFE]] as [[UInt8]] {
            #expect(PublicKey(modulus: modulus, exponent: [1, 0, 1]) == nil)
        }
        #expect(PublicKey(modulus: modulus, exponent: [1, 0, 0, 0, 1]) != nil)
        #expect(PublicKey(modulus: [UInt8](repeating: 255, count: 1025), exponent: [1, 0, 1]) == nil)

        let point = Array(P256.Signing.PrivateKey().publicKey.x963Representation)
        let (x, y) = (Array(point[1...32]), Array(point[33...]))
        #expect(PublicKey(x: x, y: Array(y.dropLast()) + [y[31] ^ 1]) == nil)
        #expect(PublicKey(x: [], y: []) == nil)
        #expect(PublicKey(x: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32)) == nil)

        let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation
        let texts = [
            "", "-----BEGIN -----", "no PEM", P384.Signing.PrivateKey().publicKey.pemRepresentation,
            P256.Signing.PrivateKey().pemRepresentation, try Self.rsaKey().pemRepresentation, pem + "\n" + pem,
            pem.replacingOccurrences(of: "M", with: "!"), String(pem.dropLast(3)),
            pem.replacingOccurrences(of: "END PUBLIC", with: "END"), Self.pem([]), Self.pem([0x30, 0]),
        ]
        #expect(PublicKey(pem: Self.pem([0x30, 0x82, 1, 8, 2, 0x82, 1, 1, 0] + modulus + [2, 1, 3]))?.kind == .rsa)
        for text in texts { #expect(PublicKey(pem: text) == nil, "\(text)") }
    }
}
