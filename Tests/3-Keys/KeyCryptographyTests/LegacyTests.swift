import Foundation
import Testing

@testable import KeychainServices

/// The functions from before algorithms had names, against those that came after.
@Suite("Older functions of keys")
struct LegacyTests {
    private let rsa: KeyPair
    private let curve: KeyPair
    private static let badSignature: OSStatus = -9809

    init() throws {
        rsa = try KeyPair(SecKey.random(kSecAttrKeyTypeRSA, 1024))
        curve = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, 256))
    }

    private typealias Transformation = (
        SecKey, SecPadding, UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>
    ) -> OSStatus

    private func call(
        _ function: Transformation, _ key: SecKey, _ padding: SecPadding, _ input: Data, room: Int = 256
    ) -> (status: OSStatus, output: Data) {
        var output = [UInt8](repeating: 0xAA, count: room)
        var count = room
        let status = function(key, padding, [UInt8](input), input.count, &output, &count)
        return (status, status == errSecSuccess ? Data(output.prefix(count)) : Data())
    }

    private func verify(_ key: SecKey, _ padding: SecPadding, _ input: Data, _ signature: Data) -> OSStatus {
        SecKeyRawVerify(key, padding, [UInt8](input), input.count, [UInt8](signature), signature.count)
    }

    @Test func signatures() throws {
        let paddings: [(KeyPair, SecPadding, Int, SecKeyAlgorithm)] = [
            (rsa, [], 128, .rsaSignatureRaw), (rsa, .PKCS1, 30, .rsaSignatureDigestPKCS1v15Raw),
            (rsa, .PKCS1SHA1, 20, .rsaSignatureDigestPKCS1v15SHA1),
            (rsa, .PKCS1SHA224, 28, .rsaSignatureDigestPKCS1v15SHA224),
            (rsa, .PKCS1SHA256, 32, .rsaSignatureDigestPKCS1v15SHA256),
            (rsa, .PKCS1SHA384, 48, .rsaSignatureDigestPKCS1v15SHA384),
            (rsa, .PKCS1SHA512, 64, .rsaSignatureDigestPKCS1v15SHA512),
            (curve, .sigRaw, 32, .ecdsaSignatureDigestRFC4754), (curve, .PKCS1, 32, .ecdsaSignatureDigestX962),
            (curve, [], 32, .ecdsaSignatureDigestX962), (curve, .PKCS1SHA256, 20, .ecdsaSignatureDigestX962),
        ]
        for (pair, padding, length, algorithm) in paddings {
            let digest = Data((0..<length).map { UInt8($0) })
            let (status, signature) = call(SecKeyRawSign, pair.private, padding, digest)
            #expect(status == errSecSuccess)
            #expect(try pair.public.verify(signature, of: digest, algorithm))
            #expect(verify(pair.public, padding, digest, signature) == errSecSuccess)
            var wrong = signature
            wrong[wrong.count - 1] ^= 1
            #expect(verify(pair.public, padding, digest, wrong) == Self.badSignature)
            #expect(verify(pair.public, padding, digest, Data([1])) == Self.badSignature)
            #expect(call(SecKeyRawSign, pair.private, padding, digest, room: signature.count - 8).status == errSecParam)
            #expect(call(SecKeyRawSign, pair.public, padding, digest).status == errSecParam)
        }
        for padding in [SecPadding.PKCS1MD2, .PKCS1MD5, .OAEP, .sigRaw] {
            #expect(call(SecKeyRawSign, rsa.private, padding, Data(count: 16)).status == errSecParam)
            #expect(verify(rsa.public, padding, Data(count: 16), Data(count: 128)) == errSecParam)
        }
        #expect(call(SecKeyRawSign, rsa.private, .PKCS1SHA256, Data(count: 20)).status == errSecParam)
    }

    @Test func encryption() throws {
        let input = Data([0, 0, 1, 2, 3])
        let paddings: [(SecPadding, SecKeyAlgorithm)] = [
            ([], .rsaEncryptionRaw), (.PKCS1, .rsaEncryptionPKCS1), (.OAEP, .rsaEncryptionOAEPSHA1),
        ]
        for (padding, algorithm) in paddings {
            let (status, cryptogram) = call(SecKeyEncrypt, rsa.public, padding, input)
            #expect(status == errSecSuccess)
            #expect(cryptogram.count == 128)
            // Without padding a number is encrypted, and it is given back without zeros in front.
            #expect(try rsa.private.decrypt(cryptogram, algorithm).suffix(5) == input)
            let decrypted = call(SecKeyDecrypt, rsa.private, padding, cryptogram)
            #expect(decrypted.status == errSecSuccess)
            #expect(decrypted.output == (padding.isEmpty ? Data([1, 2, 3]) : input))
            #expect(call(SecKeyDecrypt, rsa.private, padding, cryptogram, room: 2).status == errSecParam)
            #expect(call(SecKeyEncrypt, rsa.private, padding, input).status == errSecParam)
            #expect(call(SecKeyEncrypt, curve.public, padding, input).status == errSecParam)
        }
        #expect(call(SecKeyEncrypt, rsa.public, .PKCS1SHA256, input).status == errSecParam)
        #expect(call(SecKeyDecrypt, rsa.private, .OAEP, Data(count: 128)).status == errSecParam)
    }
}
