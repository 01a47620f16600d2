import Foundation
import KeychainModel
import Testing

@testable import KeychainServices

@Suite("SecKey from data")
struct RefsKeyTests {
    private func create(_ data: Data, _ attributes: [String: Any]) -> (key: SecKey?, status: OSStatus) {
        var error: Unmanaged<CFError>?
        let key = SecKeyCreateWithData(data as CFData, attributes as CFDictionary, &error)
        return (key, OSStatus(error?.takeRetainedValue().code ?? 0))
    }

    private func dictionary(_ key: SecKey) throws -> [String: Any] {
        try #require(SecKeyCopyAttributes(key) as? [String: Any])
    }

    @Test func typeAndClassMayBeStringsOrNumbers() throws {
        let attributes: [[String: Any]] = [
            ["type": "73", "kcls": "1"], ["type": 73, "kcls": 1], ["type": NSNumber(value: 73), "kcls": "1"],
        ]
        for attributes in attributes {
            let (key, status) = create(RefsFixtures.privateKey, attributes)
            #expect(status == errSecSuccess)
            let data = SecKeyCopyExternalRepresentation(try #require(key), nil)
            #expect(data as Data? == RefsFixtures.privateKey)
        }
    }

    @Test func refusals() {
        let key = RefsFixtures.privateKey
        let refused: [(Data, [String: Any], OSStatus)] = [
            (key, [:], errSecParam), (key, ["type": "73"], errSecParam), (key, ["kcls": "1"], errSecParam),
            (key, ["type": "073", "kcls": "1"], errSecParam), (key, ["type": "73", "kcls": true], errSecParam),
            (key, ["type": 73.5, "kcls": "1"], errSecParam), (key, ["type": "105", "kcls": "1"], errSecParam),
            (key, ["type": "73", "kcls": "0"], errSecParam), (key, ["type": "42", "kcls": "1"], errSecParam),
            (key, ["type": "73", "kcls": "3"], errSecParam), (Data(), ["type": "73", "kcls": "1"], errSecParam),
            (Data(count: 32), ["type": "2147483649", "kcls": "2"], errSecUnimplemented),
            (key, ["type": "73", "kcls": "1", "tkid": "com.apple.setoken"], errSecUnimplemented),
        ]
        for (data, attributes, expected) in refused {
            let (key, status) = create(data, attributes)
            #expect(key == nil)
            #expect(status == expected)
        }
    }

    @Test func attributesOfAPublicCurveKey() throws {
        let key = try #require(create(RefsFixtures.publicKey, ["type": "73", "kcls": "0"]).key)
        let attributes = try dictionary(key)
        #expect(attributes["class"] as? String == "keys")
        #expect(attributes["type"] as? String == "73")
        #expect(attributes["kcls"] as? String == "0")
        #expect(attributes["bsiz"] as? Int == 256)
        #expect(attributes["esiz"] as? Int == 256)
        #expect(attributes["klbl"] as? Data == RefsFixtures.publicKeyHash)
        #expect(attributes["v_Data"] as? Data == RefsFixtures.publicKey)
        let flags = [
            "encr": true, "decr": false, "drve": false, "sign": false, "vrfy": true, "wrap": true, "unwp": false,
            "perm": true, "priv": true, "modi": true, "sens": false, "asen": false, "extr": true, "next": false,
        ]
        for (name, expected) in flags {
            #expect(attributes[name] as? Bool == expected, "\(name)")
        }
    }

    /// Columns of Apple's table: encrypt, decrypt, derive, sign, verify, wrap, unwrap.
    @Test func capabilities() throws {
        let table: [(Data, [String: Any], [Bool])] = [
            (RefsFixtures.privateKey, ["type": 73, "kcls": 1], [false, true, true, true, false, false, true]),
            (RefsFixtures.publicKey, ["type": 73, "kcls": 0], [true, false, false, false, true, true, false]),
            (RefsFixtures.rsaPublicKey, ["type": 42, "kcls": 0], [true, true, false, false, true, true, false]),
        ]
        for (data, attributes, expected) in table {
            let key = try #require(create(data, attributes).key)
            let public_ = try dictionary(key)
            let names = ["encr", "decr", "drve", "sign", "vrfy", "wrap", "unwp"]
            #expect(names.map { public_[$0] as? Bool } == expected)
            let stored = names.map { key.storedAttributes[AttributeName($0) ?? .label] }
            #expect(stored == expected.map { .number($0 ? 1 : 0) })
        }
    }

    @Test func publicHalves() throws {
        let key = try #require(create(RefsFixtures.privateKey, ["type": 73, "kcls": 1]).key)
        let half = try #require(SecKeyCopyPublicKey(key))
        let given = try #require(create(RefsFixtures.publicKey, ["type": 73, "kcls": 0]).key)
        #expect(half == given)
        #expect(half.hashValue == given.hashValue)
        #expect(CFEqual(half, given))
        #expect(key != half)
        #expect(SecKeyCopyPublicKey(half) == half)
        #expect(SecKeyGetBlockSize(key) == 32)
        #expect(CFGetTypeID(key) == SecKeyGetTypeID())
        #expect(SecKeyGetTypeID() != SecCertificateGetTypeID())
    }

    @Test func descriptionsKeepTheSecret() throws {
        let key = try #require(create(RefsFixtures.privateKey, ["type": 73, "kcls": 1]).key)
        let secret = RefsFixtures.privateKey.suffix(32)
        var dumped = ""
        dump(key, to: &dumped)
        for text in [key.debugDescription, "\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains(secret.map { String(format: "%02x", $0) }.joined()))
            #expect(!text.contains(secret.base64EncodedString()))
            #expect(!text.contains(secret.prefix(8).map(String.init).joined(separator: ", ")))
        }
        #expect(key.debugDescription.contains("256 bits"))
    }
}
