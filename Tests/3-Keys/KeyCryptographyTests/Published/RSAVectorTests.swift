import Foundation
import TestSupport
import Testing

@testable import KeychainServices

/// NIST's (CAVP) and RSA Laboratories' vectors for RSA, through `SecKey`.
@Suite("Published vectors: RSA")
struct RSAVectorTests {
    private static let folder = "asymmetric/RSA"
    private let peer: PeerProcess

    init() throws {
        peer = try PeerProcess.shared()
    }

    private func publicKey(_ row: PublishedVectors.Row) throws -> SecKey {
        try SecKey.make(DERWriter.integers([row.number("n"), row.number("e")]), kSecAttrKeyClassPublic)
    }

    /// Of the files that give all of a key.
    private func labelledKey(_ row: PublishedVectors.Row) throws -> KeyPair {
        let numbers = try ["Modulus", "Public exponent"].map(row.number)
        let names = ["Exponent", "Prime 1", "Prime 2", "Prime exponent 1", "Prime exponent 2", "Coefficient"]
        return try KeyPair(
            private: DERWriter.integers([Data([0])] + numbers + names.map(row.number)),
            public: DERWriter.integers(numbers))
    }

    private func digest(_ row: PublishedVectors.Row) throws -> String { try #require(row.values["SHAAlg"]) }

    /// Keys that are read again with each vector, by modulus and exponent.
    private struct Keys<Key> {
        private var known: [String: Key] = [:]

        mutating func key(
            _ row: PublishedVectors.Row, _ make: (PublishedVectors.Row) throws -> Key
        ) throws -> Key {
            let parts = ["n", "e", "Modulus", "Public exponent"]
            let name = parts.map { row.values[$0] ?? "" }.joined(separator: " ")
            if let key = known[name] { return key }
            let key = try make(row)
            known[name] = key
            return key
        }
    }

    /// Every signature is verified; with the private exponent in the file it is made, too, and PKCS#1 v1.5 has one
    /// alone. Making takes time: a plain run makes every tenth.
    @Test(arguments: ["SigGen15_186-2.rsp", "SigGen15_186-2.txt", "SigGen15_186-3.rsp"])
    func pkcs1Made(file: String) throws {
        let step = TestScale.isSoak ? 1 : 10
        var (tally, publicKeys, privateKeys) = (Tally(), Keys<SecKey>(), Keys<SecKey>())
        let rows = try PublishedVectors("\(Self.folder)/FIPS_186-2/\(file)", last: "S", count: 250).rows
        for (number, row) in rows.enumerated() {
            let algorithm = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:\(try digest(row))")
            let (message, signature) = (try row.bytes("Msg"), try row.bytes("S"))
            #expect(try publicKeys.key(row, publicKey).verify(signature, of: message, algorithm), "\(row.text)")
            tally.add("verified")
            guard row.values["d"] != nil, number.isMultiple(of: step) else { continue }
            let key = try privateKeys.key(row, wholeKey)
            #expect(try key.sign(message, algorithm) == signature, "\(row.text)")
            tally.add("made")
        }
        #expect(tally == Tally(file.hasSuffix("txt") ? ["verified": 250, "made": 250 / step] : ["verified": 250]))
    }

    /// PSS with SHA-512 and a salt as long does not fit into 1024 bits.
    private func expectTooShort(
        _ key: SecKey, _ row: PublishedVectors.Row, _ algorithm: SecKeyAlgorithm
    ) throws {
        #expect(SecKeyGetBlockSize(key) == 128 && (algorithm.rawValue as String).contains("PSS:SHA512"), "\(row.text)")
        #expect(throws: KeyFailure(status: errSecParam), "\(row.text)") {
            try key.verify(row.bytes("S"), of: row.bytes("Msg"), algorithm)
        }
    }

    private func wholeKey(_ row: PublishedVectors.Row) throws -> SecKey {
        try peer.completePair(
            modulus: row.number("n"), publicExponent: row.number("e"), privateExponent: row.number("d"))
    }

    /// `SecKey` has one length of salt for each hash function: a signature with another is not valid for it.
    @Test(arguments: ["SigGenPSS_186-2.rsp", "SigGenPSS_186-2.txt", "SigGenPSS_186-3.rsp"])
    func pssMade(file: String) throws {
        let step = TestScale.isSoak ? 1 : 10
        var (tally, publicKeys, privateKeys) = (Tally(), Keys<SecKey>(), Keys<SecKey>())
        let rows = try PublishedVectors("\(Self.folder)/FIPS_186-2/\(file)", last: "S", count: 250).rows
        for (number, row) in rows.enumerated() {
            let digest = try digest(row)
            let name = try #require(Algorithms.rsaPSS.first { $0.contains("message-PSS:\(digest):") })
            let algorithm = SecKeyAlgorithm(name)
            let (message, key) = (try row.bytes("Msg"), try publicKeys.key(row, publicKey))
            // The salts of the first two have the length of SHA-1; those of the third have none.
            let isValid = digest == "SHA1" && file.contains("186-2")
            guard key.supports(.verify, algorithm) else {
                try expectTooShort(key, row, algorithm)
                tally.add("refused, key size")
                continue
            }
            #expect(try key.verify(row.bytes("S"), of: message, algorithm) == isValid, "\(row.text)")
            tally.add(isValid ? "verified" : "refused, salt")
            guard row.values["d"] != nil, number.isMultiple(of: step) else { continue }
            let own = try privateKeys.key(row, wholeKey).sign(message, algorithm)
            #expect(try peer.verify(own, of: message, by: key, name), "\(row.text)")
            tally.add("made")
        }
        var expected = ["refused, salt": 240, "refused, key size": 10]
        if file.contains("186-2") { expected = ["verified": 50, "refused, salt": 190, "refused, key size": 10] }
        if file.hasSuffix("txt") { expected["made"] = 240 / step }
        #expect(tally == Tally(expected), "\(file)")
    }

    @Test(arguments: [
        ("FIPS_186-2/SigVer15_186-3.rsp", 450, ["valid": 75, "not valid": 375]),
        ("SigVer15EMTest.txt", 150, ["not valid": 150]),
    ])
    func pkcs1Verified(file: String, count: Int, expected: [String: Int]) throws {
        var tally = Tally()
        for row in try PublishedVectors("\(Self.folder)/\(file)", last: "Result", count: count).rows {
            let isValid = row.values["Result"]?.hasPrefix("P") == true
            let algorithm = SecKeyAlgorithm("algid:sign:RSA:message-PKCS1v15:\(try digest(row))")
            let answer = try publicKey(row).verify(row.bytes("S"), of: row.bytes("Msg"), algorithm)
            #expect(answer == isValid, "\(row.text)")
            tally.add(isValid ? "valid" : "not valid")
        }
        #expect(tally == Tally(expected), "\(file)")
    }

    /// The salts have ten bytes, which no algorithm of `SecKey` has: nothing in the file is valid for it.
    @Test func pssVerified() throws {
        var tally = Tally()
        let path = "\(Self.folder)/FIPS_186-2/SigVerPSS_186-3.rsp"
        for row in try PublishedVectors(path, last: "Result", count: 450).rows {
            let digest = try digest(row)
            let name = try #require(Algorithms.rsaPSS.first { $0.contains("message-PSS:\(digest):") })
            #expect(try row.bytes("SaltVal").count == 10)
            let key = try publicKey(row)
            guard key.supports(.verify, SecKeyAlgorithm(name)) else {
                try expectTooShort(key, row, SecKeyAlgorithm(name))
                tally.add("refused, key size")
                continue
            }
            let answer = try key.verify(row.bytes("S"), of: row.bytes("Msg"), SecKeyAlgorithm(name))
            #expect(!answer, "\(row.text)")
            tally.add(row.values["Result"]?.hasPrefix("P") == true ? "refused, salt" : "not valid")
        }
        #expect(tally == Tally(["refused, salt": 72, "not valid": 360, "refused, key size": 18]))
    }

    /// There is no algorithm for X9.31. Its signatures are no PKCS#1 signatures and no PSS, whatever they say.
    @Test(arguments: [
        ("SigGenRSA.rsp", "S", 200), ("SigGenRSA_186-2.rsp", "S", 200), ("SigGenRSA_186-2.txt", "S", 200),
        ("SigVerRSA.rsp", "Result", 360),
    ])
    func x931(file: String, last: String, count: Int) throws {
        var keys = Keys<SecKey>()
        for row in try PublishedVectors("\(Self.folder)/FIPS_186-2/\(file)", last: last, count: count).rows {
            let digest = try digest(row)
            let key = try keys.key(row, publicKey)
            for name in Algorithms.rsaSignatures where name.contains("message") && name.contains(":\(digest)") {
                guard key.supports(.verify, SecKeyAlgorithm(name)) else {
                    try expectTooShort(key, row, SecKeyAlgorithm(name))
                    continue
                }
                let answer = try key.verify(row.bytes("S"), of: row.bytes("Msg"), SecKeyAlgorithm(name))
                #expect(!answer, "\(row.text)")
            }
        }
    }

    /// What is made of NIST's primes is a key that works.
    @Test func keyPairs() throws {
        let message = Data("message".utf8)
        let algorithm = SecKeyAlgorithm.rsaSignatureMessagePKCS1v15SHA256
        let step = TestScale.isSoak ? 1 : 3
        var tally = Tally()
        let rows = try PublishedVectors("\(Self.folder)/FIPS_186-2/KeyGenRSA.rsp", last: "d", count: 30).rows
        for (number, row) in rows.enumerated() where number.isMultiple(of: step) {
            let key = try wholeKey(row)
            let signature = try key.sign(message, algorithm)
            #expect(try SecKeyCopyPublicKey(key)?.external() == publicKey(row).external(), "\(row.text)")
            #expect(try publicKey(row).verify(signature, of: message, algorithm), "\(row.text)")
            tally.add("works")
        }
        #expect(tally == Tally(["works": 30 / step]))
    }

    @Test(arguments: [
        ("pkcs1v15sign-vectors.txt", 300, "algid:sign:RSA:message-PKCS1v15:SHA1"),
        ("pkcs-1v2-1d2-vec/pss-vect.txt", 60, "algid:sign:RSA:message-PSS:SHA1:SHA1:20"),
    ])
    func laboratoriesSignatures(file: String, count: Int, name: String) throws {
        var (checked, keys) = (0, Keys<KeyPair>())
        for row in try PublishedVectors("\(Self.folder)/\(file)", last: "Signature", count: count).rows {
            let key = try keys.key(row, labelledKey)
            let (message, signature) = (try row.bytes("Message to be signed"), try row.bytes("Signature"))
            #expect(try key.public.verify(signature, of: message, SecKeyAlgorithm(name)), "\(row.text)")
            checked += 1
            guard TestScale.isSoak || checked.isMultiple(of: 5) else { continue }
            let own = try key.private.sign(message, SecKeyAlgorithm(name))
            if name.contains("PKCS1v15") {
                #expect(own == signature, "\(row.text)")
            } else {
                #expect(try peer.verify(own, of: message, by: key.public, name), "\(row.text)")
            }
        }
        #expect(checked == count)
    }

    @Test(arguments: [
        ("pkcs1v15crypt-vectors.txt", 300, "algid:encrypt:RSA:PKCS1"),
        ("pkcs-1v2-1d2-vec/oaep-vect.txt", 60, "algid:encrypt:RSA:OAEP:SHA1"),
        ("oaep-custom/oaep-sha224-sha224.txt", 60, "algid:encrypt:RSA:OAEP:SHA224"),
        ("oaep-custom/oaep-sha256-sha256.txt", 60, "algid:encrypt:RSA:OAEP:SHA256"),
        ("oaep-custom/oaep-sha384-sha384.txt", 60, "algid:encrypt:RSA:OAEP:SHA384"),
        ("oaep-custom/oaep-sha512-sha512.txt", 60, "algid:encrypt:RSA:OAEP:SHA512"),
    ])
    func decryption(file: String, count: Int, name: String) throws {
        var (opened, keys) = (0, Keys<KeyPair>())
        for row in try PublishedVectors("\(Self.folder)/\(file)", last: "Encryption", count: count).rows {
            let key = try keys.key(row, labelledKey)
            let plaintext = try row.bytes("Message")
            let algorithm = SecKeyAlgorithm(name)
            #expect(try key.private.decrypt(row.bytes("Encryption"), algorithm) == plaintext, "\(row.text)")
            opened += 1
            guard TestScale.isSoak || opened.isMultiple(of: 5) else { continue }
            let own = try key.public.encrypt(plaintext, algorithm)
            #expect(try peer.decrypt(own, with: key.private, name) == plaintext, "\(row.text)")
        }
        #expect(opened == count)
    }

    /// `SecKey` masks with the function that it hashes with. What was masked with another does not open.
    @Test(arguments: Algorithms.digests) func decryptionWithTwoFunctions(digest: String) throws {
        var refused = 0
        for mask in Algorithms.digests where mask != digest {
            let file = "oaep-\(digest.lowercased())-\(mask.lowercased()).txt"
            let rows = try PublishedVectors("\(Self.folder)/oaep-custom/\(file)", last: "Encryption", count: 60).rows
            for row in rows.enumerated().filter({ TestScale.isSoak || $0.offset.isMultiple(of: 10) }).map(\.element) {
                let key = try labelledKey(row).private
                for name in Algorithms.rsaEncryption where name.contains("OAEP") {
                    #expect(throws: KeyFailure.self, "\(row.text)") {
                        try key.decrypt(row.bytes("Encryption"), SecKeyAlgorithm(name))
                    }
                }
                refused += 1
            }
        }
        #expect(refused == (TestScale.isSoak ? 4 * 60 : 4 * 6))
    }
}
