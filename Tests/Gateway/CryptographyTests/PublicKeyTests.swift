import Cryptography
import Foundation
import TestSupport
import Testing

/// Public keys, against new private keys and published signatures.
struct PublicKeyTests {
    private static let message = Array("header.claims".utf8)

    private static func pem(_ bytes: [UInt8]) -> String { SigningKey.pem("RSA PUBLIC KEY", bytes) }

    @Test func signaturesOnTheCurveAreVerified() throws {
        let (ours, other) = (SigningKey(), SigningKey())
        let key = try #require(PublicKey(pem: ours.publicPEM))
        #expect(key.kind == .p256)
        #expect(key.bits == 256)
        #expect(key.pem == ours.publicPEM)
        #expect(PublicKey(x: ours.coordinates.x, y: ours.coordinates.y) == key)

        for _ in 0..<20 {
            let signature = ours.tokenSignature(of: Self.message)
            #expect(key.verifies(signature, of: Self.message))
            #expect(!key.verifies(signature, of: Self.message + [0]))
            #expect(!key.verifies(Array(signature.dropLast()), of: Self.message))
            #expect(!key.verifies(signature + [0], of: Self.message))
        }
        #expect(!key.verifies(other.tokenSignature(of: Self.message), of: Self.message))
        #expect(!key.verifies(ours.signature(of: Self.message), of: Self.message))
        for bytes in [[], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 255, count: 64)] as [[UInt8]] {
            #expect(!key.verifies(bytes, of: Self.message))
        }
    }

    @Test func signaturesOfRSAAreVerified() throws {
        let (ours, other) = (SigningKey(.rsa), SigningKey(.rsa))
        let exponent: [UInt8] = [1, 0, 1]
        let key = try #require(PublicKey(modulus: ours.modulus, exponent: exponent))
        #expect(key.kind == .rsa)
        #expect(key.bits == 2048)
        #expect(key.pem == ours.publicPEM)
        #expect(PublicKey(pem: ours.publicPEM) == key)
        #expect(PublicKey(pem: ours.publicPKCS1PEM) == key)
        #expect(PublicKey(pem: key.pem.replacingOccurrences(of: "\n", with: "\r\n") + "\r\n") == key)
        #expect(PublicKey(pem: key.pem.replacingOccurrences(of: "PUBLIC KEY", with: "RSA PUBLIC KEY")) == key)
        #expect(PublicKey(pem: "Bag Attributes\n  name: one\n" + key.pem + "\n  \nmore\n") == key)
        #expect(PublicKey(pem: key.pem.replacingOccurrences(of: "\n", with: " \n\n ")) == key)
        #expect(PublicKey(modulus: [0] + ours.modulus, exponent: [0, 0] + exponent) == key)

        let valid = ours.signature(of: Self.message)
        #expect(key.verifies(valid, of: Self.message))
        #expect(!key.verifies(valid, of: Self.message + [0]))
        #expect(!key.verifies(Array(valid.dropLast()), of: Self.message))
        #expect(!key.verifies(ours.signature(of: Self.message, isPSS: true), of: Self.message))
        #expect(!key.verifies(other.signature(of: Self.message), of: Self.message))
        #expect(!key.verifies([], of: Self.message))
        #expect(!key.verifies([UInt8](repeating: 0, count: 256), of: Self.message))
    }

    /// RFC 7515 appendices A.2 and A.3.
    @Test func publishedSignaturesAreVerified() throws {
        let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let modulus = """
            ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pC\
            gNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg6\
            65xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRW\
            yuXpoQ
            """
        let signature = """
            cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t\
            1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12j\
            zDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQ\
            Ge77Rw
            """
        let rsa = try #require(PublicKey(modulus: Self.bytes(modulus), exponent: [1, 0, 1]))
        #expect(rsa.verifies(Self.bytes(signature), of: Array("eyJhbGciOiJSUzI1NiJ9.\(claims)".utf8)))

        let curve = PublicKey(
            x: Self.bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
            y: Self.bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        )
        let numbers = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        #expect(try #require(curve).verifies(Self.bytes(numbers), of: Array("eyJhbGciOiJFUzI1NiJ9.\(claims)".utf8)))
    }

    private static func bytes(_ text: String) -> [UInt8] {
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - text.count % 4) % 4)).map(Array.init)
            ?? []
    }

    @Test func otherKeysAreNotRead() throws {
        let modulus = SigningKey(.rsa).modulus
        for exponent in [[], [0], [1], [4], [2, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0, 1]] as [[UInt8]] {
            #expect(PublicKey(modulus: modulus, exponent: exponent) == nil, "exponent \(exponent)")
        }
        for modulus in [[], [0], modulus.dropLast() + [modulus[modulus.count - 1] & 0xFE]] as [[UInt8]] {
            #expect(PublicKey(modulus: modulus, exponent: [1, 0, 1]) == nil)
        }
        #expect(PublicKey(modulus: modulus, exponent: [1, 0, 0, 0, 1]) != nil)
        #expect(PublicKey(modulus: [UInt8](repeating: 255, count: 1025), exponent: [1, 0, 1]) == nil)

        let (x, y) = SigningKey().coordinates
        #expect(PublicKey(x: x, y: Array(y.dropLast()) + [y[31] ^ 1]) == nil)
        #expect(PublicKey(x: [], y: []) == nil)
        #expect(PublicKey(x: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32)) == nil)

        let pem = SigningKey().publicPEM
        let texts = [
            "", "-----BEGIN -----", "no PEM", SigningKey(.p384).publicPEM,
            SigningKey().privatePEM, SigningKey(.rsa).privatePEM, pem + "\n" + pem,
            pem.replacingOccurrences(of: "M", with: "!"), String(pem.dropLast(3)),
            pem.replacingOccurrences(of: "END PUBLIC", with: "END"), Self.pem([]), Self.pem([0x30, 0]),
        ]
        #expect(PublicKey(pem: Self.pem([0x30, 0x82, 1, 8, 2, 0x82, 1, 1, 0] + modulus + [2, 1, 3]))?.kind == .rsa)
        for text in texts { #expect(PublicKey(pem: text) == nil, "\(text)") }
    }
}
