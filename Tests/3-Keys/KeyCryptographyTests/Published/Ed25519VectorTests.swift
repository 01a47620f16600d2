import Bytes
import Certificates
import Foundation
import KeyCryptography
import Testing
import VaultKeys

/// RFC 8032, 7.1: the tests 1 to 3, and "SHA(abc)".
@Suite struct Ed25519VectorTests {
    struct Vector: CustomTestStringConvertible {
        var secret: String
        var `public`: String
        var message: String
        var signature: String
        var testDescription: String { "a message of \(message.count / 2) bytes" }
    }

    private static let algorithm = KeyAlgorithmName(rawValue: "algid:sign:EdDSA:message-Curve25519:SHA512")

    static let vectors = [
        Vector(
            secret: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            public: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
            signature:
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                + "d25bf5f0595bbe24655141438e7a100b"),
        Vector(
            secret: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            public: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
            signature:
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
                + "387b2eaeb4302aeeb00d291612bb0c00"),
        Vector(
            secret: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            public: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
            signature:
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
                + "4a7c15e9716ed28dc027beceea1ec40a"),
        Vector(
            secret: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            public: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            message: "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
                + "454d4423643ce80e2a9ac94fa54ca49f",
            signature:
                "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
                + "3dca179c138ac17ad9bef1177331a704"),
    ]

    private func bytes(_ text: String) throws -> Data { Data(try #require([UInt8](hexadecimal: text.utf8))) }

    @Test(arguments: vectors) func knownAnswer(vector: Vector) throws {
        let key = VaultKey(try KeyData(bytes(vector.secret), type: .ed25519, keyClass: .private))
        let message = try bytes(vector.message)
        let signature = try bytes(vector.signature)
        #expect(try key.keyData.publicRepresentation == bytes(vector.public))
        // swift-crypto signs with fresh randomness beside the message, so that no two signatures are the same.
        #expect(try key.publicKey.isValid(signature, of: message, by: Self.algorithm))
        #expect(try key.publicKey.isValid(key.sign(message, by: Self.algorithm), of: message, by: Self.algorithm))
        #expect(try !key.publicKey.isValid(signature, of: message + [0], by: Self.algorithm))
        var other = signature
        other[0] ^= 1
        #expect(try !key.publicKey.isValid(other, of: message, by: Self.algorithm))
        #expect(try !key.publicKey.isValid(signature.dropLast(), of: message, by: Self.algorithm))
    }

    /// It signs messages and does nothing else, and no other kind of key signs with it.
    @Test func otherUses() throws {
        let key = VaultKey(try SoftwareKeys.randomKey(type: .ed25519, sizeInBits: 256))
        let curve = VaultKey(try SoftwareKeys.randomKey(type: .ellipticCurve, sizeInBits: 256))
        let rsa = VaultKey(try SoftwareKeys.randomKey(type: .rsa, sizeInBits: 2_048))
        for name in [
            "algid:sign:ECDSA:message-X962:SHA256", "algid:sign:RSA:message-PKCS1v15:SHA256",
            "algid:encrypt:ECIES:ECDH:KDFX963:SHA256:AESGCM", "algid:keyexchange:ECDH",
        ] {
            for operation in KeyOperation.allCases {
                #expect(!key.supports(KeyAlgorithmName(rawValue: name), for: operation))
                #expect(!key.publicKey.supports(KeyAlgorithmName(rawValue: name), for: operation))
            }
        }
        for other in [curve, rsa] {
            #expect(throws: KeyError.self) { try other.sign(Data(), by: Self.algorithm) }
            #expect(!other.publicKey.supports(Self.algorithm, for: .verify))
        }
        #expect(throws: KeyError.self) { try SoftwareKeys.randomKey(type: .ed25519, sizeInBits: 255) }
        #expect(try KeyData(privateKeyInfo: #require(try key.keyData.privateKeyInfo())) == key.keyData)
    }
}
