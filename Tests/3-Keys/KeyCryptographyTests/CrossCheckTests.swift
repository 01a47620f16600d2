import Foundation
import TestSupport
import Testing

@testable import KeychainServices

/// Every algorithm both ways against Python's cryptography, with keys of either side.
@Suite("Keys against Python's cryptography")
struct CrossCheckTests {
    /// With inputs of random lengths, beside the shortest and the longest.
    private static let rounds = TestScale.count(0, soak: 50)
    static let curves = [192, 224, 256, 384, 521]
    static let moduli = [1024, 1031, 2048] + (TestScale.isSoak ? [3072, 4096, 8192] : [])

    private let peer: PeerProcess

    init() throws {
        peer = try PeerProcess.shared()
    }

    /// A key that was made here, and one that was made there.
    private func pairs(_ name: String, _ type: NSString, _ bits: Int) throws -> [KeyPair] {
        [try KeyPair(SecKey.random(type, bits)), try peer.randomPair(name, bits)]
    }

    @Test(arguments: curves) func curveSignatures(bits: Int) throws {
        try checkSignatures(pairs("EC", kSecAttrKeyTypeECSECPrimeRandom, bits), Algorithms.ecdsa, longestDigest: 100)
    }

    @Test(arguments: moduli) func rsaSignatures(bits: Int) throws {
        try checkSignatures(
            pairs("RSA", kSecAttrKeyTypeRSA, bits), Algorithms.rsaSignatures, longestDigest: bits / 8 - 11)
    }

    private func checkSignatures(_ pairs: [KeyPair], _ algorithms: [String], longestDigest: Int) throws {
        var generator = SeededGenerator()
        var checked = 0
        for pair in pairs {
            for name in algorithms where pair.private.supports(.sign, SecKeyAlgorithm(name)) {
                let algorithm = SecKeyAlgorithm(name)
                let isMessage = name.contains(":message-")
                let longest = isMessage ? 1000 : longestDigest
                for round in 0..<(Self.rounds + 2) {
                    let length = [0, longest, generator.int(below: longest)][min(round, 2)]
                    let input = generator.bytes(Algorithms.digestLength(name) ?? length)
                    let ours = try pair.private.sign(input, algorithm)
                    #expect(try peer.verify(ours, of: input, by: pair.public, name), "\(name) \(generator.seed)")
                    let padded = name.hasSuffix("RSA:raw") ? input.leftPadded(to: pair.public) : input
                    let theirs = try peer.sign(padded, with: pair.private, name)
                    #expect(try pair.public.verify(theirs, of: input, algorithm), "\(name) \(generator.seed)")
                    checked += 1
                }
            }
        }
        #expect(checked >= pairs.count * (algorithms.count - 4) * (Self.rounds + 2))
    }

    @Test(arguments: curves) func curveEncryption(bits: Int) throws {
        try checkEncryption(pairs("EC", kSecAttrKeyTypeECSECPrimeRandom, bits), Algorithms.ecies) { _ in 500 }
    }

    @Test(arguments: moduli) func rsaEncryption(bits: Int) throws {
        let pairs = try pairs("RSA", kSecAttrKeyTypeRSA, bits)
        try checkEncryption(pairs, Algorithms.rsaHybrid) { _ in 500 }
        try checkEncryption(pairs, Algorithms.rsaEncryption) { name in
            let size = (bits + 7) / 8
            switch name {
            case "algid:encrypt:RSA:raw": return size - 1
            case "algid:encrypt:RSA:PKCS1": return size - 11
            default:
                let digest = name.split(separator: ":").last.map(String.init) ?? ""
                return size - 2 - 2 * Algorithms.lengths[digest, default: 0]
            }
        }
    }

    private func checkEncryption(
        _ pairs: [KeyPair], _ algorithms: [String], longest: (String) -> Int
    ) throws {
        var generator = SeededGenerator()
        var checked = 0
        for pair in pairs {
            for name in algorithms where pair.public.supports(.encrypt, SecKeyAlgorithm(name)) {
                let algorithm = SecKeyAlgorithm(name)
                for length in [0, longest(name)] + (0..<Self.rounds).map({ _ in generator.int(below: longest(name)) }) {
                    let input = generator.bytes(length)
                    // A number of no padding comes back as long as the modulus.
                    let expected = name.hasSuffix("RSA:raw") ? input.leftPadded(to: pair.public) : input
                    let ours = try pair.public.encrypt(input, algorithm)
                    #expect(try peer.decrypt(ours, with: pair.private, name) == expected, "\(name) \(generator.seed)")
                    let theirs = try peer.encrypt(input, for: pair.public, name)
                    #expect(try pair.private.decrypt(theirs, algorithm) == expected, "\(name) \(generator.seed)")
                    checked += 1
                }
            }
        }
        #expect(checked >= pairs.count * (algorithms.count - 1) * (Self.rounds + 2))
    }

    @Test(arguments: curves) func exchange(bits: Int) throws {
        var generator = SeededGenerator()
        let pairs = try pairs("EC", kSecAttrKeyTypeECSECPrimeRandom, bits)
        for name in Algorithms.exchange {
            for _ in 0..<max(1, Self.rounds) {
                let count = 1 + generator.int(below: 300)
                let info = generator.bytes(generator.int(below: 100))
                let parameters: NSDictionary = [
                    SecKeyKeyExchangeParameter.requestedSize.rawValue: count,
                    SecKeyKeyExchangeParameter.sharedInfo.rawValue: info,
                ]
                for (one, other) in [(pairs[0], pairs[1]), (pairs[1], pairs[0])] {
                    let ours = try one.private.exchange(with: other.public, SecKeyAlgorithm(name), parameters)
                    let theirs = try peer.exchange(other.private, one.public, name, count: count, sharedInfo: info)
                    #expect(ours == theirs, "\(name) \(generator.seed)")
                }
            }
        }
    }
}

extension Data {
    /// The same number in as many bytes as the modulus has.
    fileprivate func leftPadded(to key: SecKey) -> Data {
        Data(count: SecKeyGetBlockSize(key) - count) + self
    }
}
