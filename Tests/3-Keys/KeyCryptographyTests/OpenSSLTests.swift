import Foundation
import TestSupport
import Testing

@testable import KeychainServices

/// What the command `openssl` can do with keys, both ways.
@Suite("Keys against the command openssl")
struct OpenSSLTests {
    private let openSSL: OpenSSLProgram

    init() throws {
        openSSL = try OpenSSLProgram()
    }

    @Test(arguments: CrossCheckTests.curves) func curveSignatures(bits: Int) throws {
        let pair = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, bits))
        for digest in Algorithms.digests {
            try checkSignature(pair, "algid:sign:ECDSA:message-X962:\(digest)", ["-rawin", "-digest", digest])
            try checkSignature(pair, "algid:sign:ECDSA:digest-X962:\(digest)", [])
        }
    }

    @Test(arguments: [1024, 2048]) func rsaSignatures(bits: Int) throws {
        let pair = try KeyPair(SecKey.random(kSecAttrKeyTypeRSA, bits))
        try checkRawSignature(pair)
        for name in Algorithms.rsaSignatures.dropFirst() where pair.private.supports(.sign, SecKeyAlgorithm(name)) {
            let parts = name.split(separator: ":").map(String.init)
            var options: [String] = []
            switch parts.count {
            case 4, 5: options = ["-pkeyopt", "rsa_padding_mode:pkcs1"]
            default: options = ["-pkeyopt", "rsa_padding_mode:pss", "-pkeyopt", "rsa_pss_saltlen:digest"]
            }
            if parts[3].hasPrefix("message") {
                options += ["-rawin", "-digest", parts[4]]
            } else if parts.count > 4 {
                options += ["-pkeyopt", "digest:\(parts[4])"]
            }
            try checkSignature(pair, name, options)
        }
    }

    /// The command signs nothing that is longer than a digest, but decrypting without padding is the same.
    private func checkRawSignature(_ pair: KeyPair) throws {
        var generator = SeededGenerator()
        let input = Data([0]) + generator.bytes(SecKeyGetBlockSize(pair.private) - 1)
        let inputFile = try openSSL.write(input, to: "input")
        let theirs = try openSSL.output(
            ["pkeyutl", "-decrypt"] + openSSL.keys(pair).private
                + ["-in", inputFile, "-pkeyopt", "rsa_padding_mode:none"])
        #expect(try pair.private.sign(input, .rsaSignatureRaw) == theirs)
        #expect(try pair.public.verify(theirs, of: input, .rsaSignatureRaw))
    }

    private func checkSignature(_ pair: KeyPair, _ name: String, _ options: [String]) throws {
        var generator = SeededGenerator()
        let input = generator.bytes(Algorithms.digestLength(name) ?? 30)
        let keys = try openSSL.keys(pair)
        let inputFile = try openSSL.write(input, to: "input")
        let ours = try openSSL.write(pair.private.sign(input, SecKeyAlgorithm(name)), to: "signature")
        let arguments = ["pkeyutl", "-verify"] + keys.public + ["-in", inputFile, "-sigfile", ours] + options
        #expect(try openSSL.succeeds(arguments), "\(name) \(generator.seed)")
        let theirs = try openSSL.output(["pkeyutl", "-sign"] + keys.private + ["-in", inputFile] + options)
        #expect(try pair.public.verify(theirs, of: input, SecKeyAlgorithm(name)), "\(name) \(generator.seed)")
    }

    @Test(arguments: [1024, 2048]) func rsaEncryption(bits: Int) throws {
        var generator = SeededGenerator()
        let pair = try KeyPair(SecKey.random(kSecAttrKeyTypeRSA, bits))
        let keys = try openSSL.keys(pair)
        for name in Algorithms.rsaEncryption where pair.public.supports(.encrypt, SecKeyAlgorithm(name)) {
            let algorithm = SecKeyAlgorithm(name)
            let digest = name.split(separator: ":").last.map(String.init) ?? ""
            let options: [String] =
                switch digest {
                case "raw": ["-pkeyopt", "rsa_padding_mode:none"]
                case "PKCS1": ["-pkeyopt", "rsa_padding_mode:pkcs1"]
                default:
                    [
                        "-pkeyopt", "rsa_padding_mode:oaep", "-pkeyopt", "rsa_oaep_md:\(digest)", "-pkeyopt",
                        "rsa_mgf1_md:\(digest)",
                    ]
                }
            let input = digest == "raw" ? [0] + generator.bytes((bits + 7) / 8 - 1) : generator.bytes(20)
            let ours = try openSSL.write(pair.public.encrypt(input, algorithm), to: "cryptogram")
            let decrypted = try openSSL.output(["pkeyutl", "-decrypt"] + keys.private + ["-in", ours] + options)
            #expect(decrypted == input, "\(name)")
            let inputFile = try openSSL.write(input, to: "input")
            let theirs = try openSSL.output(["pkeyutl", "-encrypt"] + keys.public + ["-in", inputFile] + options)
            #expect(try pair.private.decrypt(theirs, algorithm) == input, "\(name)")
        }
    }

    @Test(arguments: CrossCheckTests.curves) func exchange(bits: Int) throws {
        var generator = SeededGenerator()
        let pair = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, bits))
        let other = try KeyPair(SecKey.random(kSecAttrKeyTypeECSECPrimeRandom, bits))
        let keys = try openSSL.keys(pair)
        let peer = try openSSL.write(KeyEncoding.publicKeyInfo(other.public.external()), to: "peer")
        let secret = try openSSL.output(
            ["pkeyutl", "-derive"] + keys.private + ["-peerkey", peer, "-peerform", "DER"])
        for name in Algorithms.exchange {
            let count = 1 + generator.int(below: 100)
            let info = generator.bytes(1 + generator.int(below: 30))
            let ours = try pair.private.exchange(
                with: other.public, SecKeyAlgorithm(name),
                [
                    SecKeyKeyExchangeParameter.requestedSize.rawValue: count,
                    SecKeyKeyExchangeParameter.sharedInfo.rawValue: info,
                ])
            guard name.contains("KDF"), let digest = name.split(separator: ":").last else {
                #expect(ours == secret, "\(name)")
                continue
            }
            let path = try openSSL.write(Data(), to: "derived")
            let arguments = [
                "kdf", "-binary", "-out", path, "-keylen", String(count), "-kdfopt", "digest:\(digest)", "-kdfopt",
                "hexkey:\(secret.hexadecimal)", "-kdfopt", "hexinfo:\(info.hexadecimal)", "X963KDF",
            ]
            #expect(try openSSL.succeeds(arguments))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == ours, "\(name)")
        }
    }
}
