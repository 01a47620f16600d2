import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import KeyCryptography
@testable import KeychainServices

/// NIST's vectors for keys on curves (CAVP), through `SecKey`. What is on curves that keys cannot be on is refused, and
/// counted.
@Suite("NIST's vectors: curves")
struct CurveVectorTests {
    private static let folder = "asymmetric/ECDSA"
    /// The length of a coordinate in bytes.
    private static let sizes = ["P-192": 24, "P-224": 28, "P-256": 32, "P-384": 48, "P-521": 66]
    private static let sets = ["EA": 24, "EB": 28, "EC": 32, "ED": 48, "EE": 66]

    private struct Place {
        /// Nil for a curve that keys cannot be on.
        let size: Int?
        let digest: String
    }

    /// `P-256,SHA-1` or `P-256` or `EC - SHA256`.
    private func place(_ row: PublishedVectors.Row) throws -> Place {
        let words = row.sections.flatMap { $0.split(whereSeparator: { ", ".contains($0) }).map(String.init) }
        let digest = words.last { $0.hasPrefix("SHA") }.map { $0.replacingOccurrences(of: "-", with: "") }
        let size = words.compactMap { Self.sizes[$0] ?? Self.sets[$0] }.last
        return Place(size: size, digest: digest ?? "SHA1")
    }

    private func point(_ row: PublishedVectors.Row, _ x: String = "Qx", _ y: String = "Qy") throws -> Data {
        // Of other curves the numbers are taken as they are; they may be as long as ours.
        let size = try place(row).size ?? max(row.bytes(x).count, row.bytes(y).count)
        return try Data([4]) + row.number(x, size: size) + row.number(y, size: size)
    }

    private func publicKey(_ point: Data) throws -> SecKey { try SecKey.make(point, kSecAttrKeyClassPublic) }

    private func privateKey(_ point: Data, _ row: PublishedVectors.Row, _ secret: String) throws -> SecKey {
        try SecKey.make(point + row.number(secret, size: point.count / 2), kSecAttrKeyClassPrivate)
    }

    /// Both encodings of a signature's two numbers: ASN.1 and fixed length.
    private func signatures(_ row: PublishedVectors.Row, size: Int) throws -> [(String, Data)] {
        let (r, s) = (try row.number("R"), try row.number("S"))
        let body = [r, s].reduce(Data()) { $0 + DERWriter.integer($1) }
        return [
            ("X962", DERWriter.value(0x30, body)),
            ("RFC4754", try row.number("R", size: size) + row.number("S", size: size)),
        ]
    }

    /// With the private key in the file, signatures are made as well: in a plain run with every fifth.
    @Test(arguments: [
        ("FIPS_186-2/SigGen.rsp", 225, 75), ("FIPS_186-2/SigGen.txt", 225, 75), ("FIPS_186-3/SigGen.rsp", 1125, 375),
        ("FIPS_186-3/SigGen.txt", 1125, 375), ("SECP256K1/SigGen.txt", 1125, 0),
    ])
    func signaturesMade(file: String, count: Int, ours: Int) throws {
        let peer = try PeerProcess.shared()
        let step = TestScale.isSoak ? 1 : 5
        var tally = Tally()
        for row in try PublishedVectors("\(Self.folder)/\(file)", last: "S", count: count).rows {
            let place = try place(row)
            let point = try point(row)
            guard let size = place.size else {
                #expect(throws: KeyFailure.self, "\(row.text)") { try publicKey(point) }
                tally.add("refused, curve")
                continue
            }
            let key = try publicKey(point)
            let message = try row.bytes("Msg")
            for (form, signature) in try signatures(row, size: size) {
                let algorithm = "algid:sign:ECDSA:message-\(form):\(place.digest)"
                #expect(try key.verify(signature, of: message, SecKeyAlgorithm(algorithm)), "\(row.text)")
                guard row.values["d"] != nil, tally.total.isMultiple(of: step) else { continue }
                let own = try privateKey(point, row, "d").sign(message, SecKeyAlgorithm(algorithm))
                #expect(try peer.verify(own, of: message, by: key, algorithm), "\(row.text)")
            }
            tally.add("verified")
        }
        #expect(tally.counts["verified", default: 0] == ours, "\(file)")
        #expect(tally.counts["refused, curve", default: 0] == count - ours, "\(file)")
    }

    @Test(arguments: [
        ("FIPS_186-2/SigVer.rsp", 225, ["valid": 15, "not valid": 60, "refused, curve": 150]),
        ("FIPS_186-3/SigVer.rsp", 1125, ["valid": 75, "not valid": 300, "refused, curve": 750]),
    ])
    func signaturesVerified(file: String, count: Int, expected: [String: Int]) throws {
        var tally = Tally()
        for row in try PublishedVectors("\(Self.folder)/\(file)", last: "Result", count: count).rows {
            let place = try place(row)
            let point = try point(row)
            guard let size = place.size else {
                #expect(throws: KeyFailure.self, "\(row.text)") { try publicKey(point) }
                tally.add("refused, curve")
                continue
            }
            let isValid = row.values["Result"]?.hasPrefix("P") == true
            for (form, signature) in try signatures(row, size: size) {
                let algorithm = SecKeyAlgorithm("algid:sign:ECDSA:message-\(form):\(place.digest)")
                // A key that was changed is mostly none.
                let answer = try? publicKey(point).verify(signature, of: row.bytes("Msg"), algorithm)
                #expect((answer ?? false) == isValid, "\(row.text)")
            }
            tally.add(isValid ? "valid" : "not valid")
        }
        #expect(tally == Tally(expected), "\(file)")
    }

    @Test(arguments: [("FIPS_186-2", 150, 50), ("FIPS_186-3", 150, 50)])
    func keyPairs(version: String, count: Int, ours: Int) throws {
        var tally = Tally()
        for row in try PublishedVectors("\(Self.folder)/\(version)/KeyPair.rsp", last: "Qy", count: count).rows {
            let point = try point(row)
            guard try place(row).size != nil else {
                #expect(throws: KeyFailure.self, "\(row.text)") { try privateKey(point, row, "d") }
                tally.add("refused, curve")
                continue
            }
            let key = try privateKey(point, row, "d")
            #expect(try key.external() == point + row.number("d", size: point.count / 2))
            #expect(try SecKeyCopyPublicKey(key)?.external() == point, "\(row.text)")
            var other = try key.external()
            other[other.count - 1] ^= 1
            #expect(throws: KeyFailure.self, "\(row.text)") { try SecKey.make(other, kSecAttrKeyClassPrivate) }
            tally.add("taken")
        }
        #expect(tally == Tally(["taken": ours, "refused, curve": count - ours]), "\(version)")
    }

    @Test(arguments: [
        ("FIPS_186-2", 180, ["valid": 20, "not valid": 40, "refused, curve": 120]),
        ("FIPS_186-3", 180, ["valid": 20, "not valid": 40, "refused, curve": 120]),
    ])
    func publicKeys(version: String, count: Int, expected: [String: Int]) throws {
        var tally = Tally()
        for row in try PublishedVectors("\(Self.folder)/\(version)/PKV.rsp", last: "Result", count: count).rows {
            let isTaken = (try? publicKey(point(row))) != nil
            guard try place(row).size != nil else {
                #expect(!isTaken, "\(row.text)")
                tally.add("refused, curve")
                continue
            }
            #expect(isTaken == (row.values["Result"]?.hasPrefix("P") == true), "\(row.text)")
            tally.add(isTaken ? "valid" : "not valid")
        }
        #expect(tally == Tally(expected), "\(version)")
    }

    /// Of the files with a derivation that `SecKey` has not, the secret that goes into it is compared.
    @Test(arguments: [
        ("NOKC_ZZOnly_init", 150), ("NOKC_ZZOnly_resp", 150), ("KDFConcat_NOKC_init", 300),
        ("KDFConcat_NOKC_resp", 300),
    ])
    func agreement(file: String, count: Int) throws {
        var tally = Tally()
        let path = "asymmetric/ECDH/KASValidityTest_ECCStaticUnified_\(file).fax"
        for row in try PublishedVectors(path, last: "Result", count: count).rows {
            let result = try #require(row.values["Result"])
            let code = try #require(Int(result.drop { !$0.isNumber }.prefix { $0.isNumber }))
            let size = try #require(try place(row).size)
            let theirs = try point(row, "QsCAVSx", "QsCAVSy")
            let own = try point(row, "QsIUTx", "QsIUTy")
            let secret = try row.number("Z", size: size)
            switch code {
            case 1, 2:
                #expect(throws: KeyFailure.self, "\(row.text)") { try publicKey(theirs) }
                tally.add("refused, other's key")
            case 5, 6, 7:
                #expect(throws: KeyFailure.self, "\(row.text)") { try privateKey(own, row, "dsIUT") }
                tally.add("refused, own key")
            default:
                let agreed = try privateKey(own, row, "dsIUT")
                    .exchange(with: publicKey(theirs), .ecdhKeyExchangeStandard)
                // What else is wrong comes after the agreement.
                #expect((agreed == secret) == (code != 8), "\(row.text)")
                tally.add(code == 8 ? "another secret" : "agreed")
            }
        }
        let fifth = file.hasPrefix("KDF") ? 20 : 10
        let refused = ["refused, other's key": 2 * fifth, "refused, own key": 3 * fifth, "another secret": fifth]
        #expect(tally == Tally(refused.merging(["agreed": count - 6 * fifth]) { $1 }), "\(file)")
    }

    @Test func agreementOnOtherCurves() throws {
        for row in try PublishedVectors("asymmetric/ECDH/brainpool.txt", last: "y_Z", count: 3).rows {
            for (x, y) in [("x_qA", "y_qA"), ("x_qB", "y_qB")] {
                #expect(throws: KeyFailure.self, "\(row.text)") { try publicKey(point(row, x, y)) }
            }
        }
    }

    /// The derivation alone: the files give what goes into it, which a key would keep to itself.
    @Test func derivation() throws {
        var tally = Tally()
        for row in try PublishedVectors("KDF/ansx963_2001.txt", last: "key_data", count: 100).rows {
            let name = try place(row).digest
            let digest = try #require(DigestAlgorithm(rawValue: name))
            let secret = try row.bytes("Z").withUnsafeBytes { try SecretBytes(copying: $0) }
            let expected = try row.bytes("key_data")
            let derived = try X963KeyDerivation(digest: digest).derive(
                count: expected.count, from: secret, sharedInfo: row.bytes("SharedInfo"))
            #expect(derived.withUnsafeBytes { Data($0) } == expected, "\(row.text)")
            tally.add(name)
        }
        #expect(tally == Tally(["SHA1": 20, "SHA224": 20, "SHA256": 20, "SHA384": 20, "SHA512": 20]))
    }
}

/// As much of DER as keys and signatures need.
enum DERWriter {
    static func value(_ tag: UInt8, _ content: Data) -> Data {
        let count = content.count
        let length: [UInt8] =
            switch count {
            case ..<0x80: [UInt8(truncatingIfNeeded: count)]
            case ..<0x100: [0x81, UInt8(truncatingIfNeeded: count)]
            default: [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count & 0xFF)]
            }
        return Data([tag] + length) + content
    }

    /// A number that is not negative, without leading zeros.
    static func integer(_ magnitude: Data) -> Data {
        value(0x02, (magnitude.first ?? 0) & 0x80 == 0 ? magnitude : Data([0]) + magnitude)
    }

    static func integers(_ magnitudes: [Data]) -> Data {
        value(0x30, magnitudes.reduce(Data()) { $0 + integer($1) })
    }
}
