import Foundation
import Testing

@testable import KeychainServices

/// What keys do not do, and with which status they say so.
@Suite("What keys refuse")
struct RefusalTests {
    private let curve: KeyPair
    private let rsa: KeyPair
    private let refused = KeyFailure(status: errSecParam)

    init() throws {
        curve = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, 256))
        rsa = try KeyPair(SecKey.random(kSecAttrKeyTypeRSA, 1024))
    }

    @Test func whatIsNotSupportedFails() {
        for name in Algorithms.all {
            let algorithm = SecKeyAlgorithm(name)
            let input = Data(count: Algorithms.digestLength(name) ?? 20)
            for key in [curve.private, curve.public, rsa.private, rsa.public] {
                if !key.supports(.sign, algorithm) {
                    #expect(throws: refused) { try key.sign(input, algorithm) }
                }
                if !key.supports(.verify, algorithm) {
                    #expect(throws: refused) { try key.verify(input, of: input, algorithm) }
                }
                if !key.supports(.encrypt, algorithm) {
                    #expect(throws: refused) { try key.encrypt(input, algorithm) }
                }
                if !key.supports(.decrypt, algorithm) {
                    #expect(throws: refused) { try key.decrypt(input, algorithm) }
                }
                if !key.supports(.keyExchange, algorithm) {
                    #expect(throws: refused) { try key.exchange(with: curve.public, algorithm) }
                }
            }
        }
    }

    /// Two claims of RSA keys that they do not keep, as on Apple systems.
    @Test func claimsThatAreNotKept() throws {
        let signature = try rsa.private.sign(Data(count: 20), .rsaSignatureDigestPKCS1v15SHA1)
        #expect(rsa.private.supports(.verify, .rsaSignatureDigestPKCS1v15SHA1))
        #expect(throws: refused) {
            try rsa.private.verify(signature, of: Data(count: 20), .rsaSignatureDigestPKCS1v15SHA1)
        }
        let cryptogram = try rsa.public.encrypt(Data(count: 20), .rsaEncryptionPKCS1)
        #expect(rsa.public.supports(.decrypt, .rsaEncryptionPKCS1))
        #expect(throws: refused) { try rsa.public.decrypt(cryptogram, .rsaEncryptionPKCS1) }
    }

    @Test func digestsOfAnotherLength() throws {
        for name in Algorithms.ecdsa + Algorithms.rsaSignatures {
            guard let length = Algorithms.digestLength(name) else { continue }
            let pair = name.contains("ECDSA") ? curve : rsa
            for wrong in [0, length - 1, length + 1] {
                #expect(throws: refused) { try pair.private.sign(Data(count: wrong), SecKeyAlgorithm(name)) }
                #expect(throws: refused) {
                    try pair.public.verify(Data(count: 64), of: Data(count: wrong), SecKeyAlgorithm(name))
                }
            }
        }
    }

    @Test func inputsThatAreTooLong() throws {
        let sizes: [(SecKeyAlgorithm, Int)] = [
            (.rsaEncryptionPKCS1, 128 - 11), (.rsaEncryptionOAEPSHA1, 128 - 42), (.rsaEncryptionOAEPSHA384, 128 - 98),
        ]
        for (algorithm, longest) in sizes {
            #expect(try rsa.public.encrypt(Data(count: longest), algorithm).count == 128)
            #expect(throws: refused) { try rsa.public.encrypt(Data(count: longest + 1), algorithm) }
        }
        #expect(throws: refused) { try rsa.private.sign(Data(count: 129), .rsaSignatureRaw) }
        #expect(throws: refused) { try rsa.private.sign(Data(count: 118), .rsaSignatureDigestPKCS1v15Raw) }
        // As long as the modulus, and larger.
        let large = Data(repeating: 0xFF, count: 128)
        #expect(throws: refused) { try rsa.private.sign(large, .rsaSignatureRaw) }
        #expect(throws: refused) { try rsa.public.encrypt(large, .rsaEncryptionRaw) }
        #expect(throws: refused) { try rsa.private.decrypt(large, .rsaEncryptionRaw) }
        #expect(throws: refused) { try rsa.private.decrypt(Data(count: 129), .rsaEncryptionRaw) }
    }

    @Test func otherKeys() throws {
        let message = Data("message".utf8)
        let other = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, 256))
        let larger = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, 384))
        let signature = try curve.private.sign(message, .ecdsaSignatureMessageX962SHA256)
        #expect(try curve.public.verify(signature, of: message, .ecdsaSignatureMessageX962SHA256))
        #expect(try !other.public.verify(signature, of: message, .ecdsaSignatureMessageX962SHA256))
        #expect(try !larger.public.verify(signature, of: message, .ecdsaSignatureMessageX962SHA256))
        #expect(try !curve.public.verify(signature, of: message, .ecdsaSignatureMessageX962SHA384))
        #expect(try !curve.public.verify(signature, of: message, .ecdsaSignatureMessageRFC4754SHA256))
        let cryptogram = try curve.public.encrypt(message, .eciesEncryptionStandardX963SHA256AESGCM)
        #expect(throws: refused) { try other.private.decrypt(cryptogram, .eciesEncryptionStandardX963SHA256AESGCM) }
        #expect(throws: refused) { try larger.private.decrypt(cryptogram, .eciesEncryptionStandardX963SHA256AESGCM) }
        #expect(throws: refused) { try curve.private.decrypt(cryptogram, .eciesEncryptionStandardX963SHA384AESGCM) }
    }

    /// Where a shared secret comes from must be a public key on the same curve.
    @Test func peers() throws {
        let larger = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, 384))
        for peer in [larger.public, curve.private, rsa.public, rsa.private] {
            #expect(throws: refused) { try curve.private.exchange(with: peer, .ecdhKeyExchangeStandard) }
        }
        #expect(try curve.private.exchange(with: curve.public, .ecdhKeyExchangeCofactor).count == 32)
    }

    @Test func exchangeParameters() throws {
        let size = SecKeyKeyExchangeParameter.requestedSize.rawValue
        let info = SecKeyKeyExchangeParameter.sharedInfo.rawValue
        let wrong: [NSDictionary] = [
            [:], [info: Data()], [size: "16"], [size: true], [size: 16.5], [size: 0], [size: -1],
            [size: 1 << 24 + 1], [size: Int.max], [size: Double.infinity], [size: 16, info: "info"],
            [size: 16, info: 3],
        ]
        for parameters in wrong {
            #expect(throws: refused, "\(parameters)") {
                try curve.private.exchange(with: curve.public, .ecdhKeyExchangeStandardX963SHA256, parameters)
            }
        }
        let right: [NSDictionary] = [
            [size: 16], [size: 16.0], [size: 16, info: Data()], [size: 16, "other": "ignored"],
            [SecKeyKeyExchangeParameter.requestedSize: 16],
        ]
        let results = try right.map {
            try curve.private.exchange(with: curve.public, .ecdhKeyExchangeStandardX963SHA256, $0)
        }
        #expect(Set(results).count == 1)
        #expect(results.first?.count == 16)
        // Without a derivation nobody looks at them.
        #expect(
            try curve.private.exchange(with: curve.public, .ecdhKeyExchangeStandard, [size: "x", info: 1]).count == 32)
    }

    @Test func pointsOffTheCurve() throws {
        for bits in [192, 224, 256, 384, 521] {
            let key = try SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, bits)
            let pair = try KeyPair(key)
            var point = try pair.public.external()
            point[point.count - 1] ^= 1
            #expect(throws: refused) { try SecKey.make(point, kSecAttrKeyClassPublic) }
            var halves = try key.external()
            halves[halves.count - 1] ^= 1
            #expect(throws: refused) { try SecKey.make(halves, kSecAttrKeyClassPrivate) }
            // In a cryptogram the point comes from whoever sent it.
            let cryptogram = try pair.public.encrypt(Data("x".utf8), .eciesEncryptionStandardX963SHA256AESGCM)
            for place in [0, 1, point.count - 1] {
                var wrong = cryptogram
                wrong[place] ^= 1
                #expect(throws: refused) { try key.decrypt(wrong, .eciesEncryptionStandardX963SHA256AESGCM) }
            }
        }
    }

    @Test func partsOfRSAKeysThatDoNotBelongTogether() throws {
        let key = try rsa.private.external()
        #expect(try SecKey.make(key, kSecAttrKeyClassPrivate) == rsa.private)
        let integers = Self.integers(ofRSAKey: key)
        #expect(integers.count == 9)
        // All but the version.
        for integer in integers.dropFirst() {
            var changed = key
            changed[integer.upperBound - 1] ^= 2
            #expect(throws: refused) { try SecKey.make(changed, kSecAttrKeyClassPrivate) }
        }
    }

    /// The places of the integers in an RSAPrivateKey (RFC 8017, A.1.2).
    private static func integers(ofRSAKey key: Data) -> [Range<Int>] {
        /// The contents of the element at `start`, which may be longer than 127 bytes (X.690, 8.1.3).
        func contents(_ start: Int) -> Range<Int> {
            let first = Int(key[start + 1])
            guard first > 0x80 else { return start + 2..<start + 2 + first }
            let end = start + 2 + first - 0x80
            return end..<end + key[start + 2..<end].reduce(0) { $0 << 8 | Int($1) }
        }
        let sequence = contents(key.startIndex)
        var (ranges, position): ([Range<Int>], Int) = ([], sequence.lowerBound)
        while position < sequence.upperBound {
            ranges.append(contents(position))
            position = ranges[ranges.count - 1].upperBound
        }
        return ranges
    }

    /// Either random data or an error: which of the two depends on the version of OpenSSL.
    @Test func badPaddingOfPKCS1() throws {
        let cryptogram = try rsa.public.encrypt(Data([0] + repeatElement(7, count: 100)), .rsaEncryptionRaw)
        do {
            #expect(try rsa.private.decrypt(cryptogram, .rsaEncryptionPKCS1).count <= 128 - 11)
        } catch {
            #expect(error as? KeyFailure == refused)
        }
    }
}
