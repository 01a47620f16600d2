import Foundation
import Testing

@testable import KeychainServices

/// Why a function of a key failed.
struct KeyFailure: Error, Equatable {
    let status: OSStatus
}

/// What a function of a key returned, or its error, which has to be of the domain of status codes.
func orThrow<Value>(_ call: (UnsafeMutablePointer<Unmanaged<CFError>?>) -> Value?) throws -> Value {
    var error: Unmanaged<CFError>?
    let value = call(&error)
    guard let value else {
        let error = try #require(error).takeRetainedValue()
        #expect(error.domain == NSOSStatusErrorDomain)
        #expect(!error.localizedDescription.isEmpty)
        throw KeyFailure(status: OSStatus(error.code))
    }
    #expect(error == nil)
    return value
}

/// Apple's functions with Swift's types and errors.
extension SecKey {
    static func make(_ data: Data, _ keyClass: NSString) throws -> SecKey {
        let type = data.first == 0x30 ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom
        let attributes: NSDictionary = [kSecAttrKeyType: type, kSecAttrKeyClass: keyClass]
        return try orThrow { SecKeyCreateWithData(data as NSData, attributes, $0) }
    }

    static func random(_ parameters: [NSString: Any]) throws -> SecKey {
        try orThrow { SecKeyCreateRandomKey(parameters as NSDictionary, $0) }
    }

    static func random(_ type: NSString, _ bits: Int) throws -> SecKey {
        try random([kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits])
    }

    func external() throws -> Data {
        try orThrow { SecKeyCopyExternalRepresentation(self, $0) } as Data
    }

    func sign(_ input: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try orThrow { SecKeyCreateSignature(self, algorithm, input as NSData, $0) } as Data
    }

    /// Throws where the function returns false for another reason than the signature.
    func verify(_ signature: Data, of input: Data, _ algorithm: SecKeyAlgorithm) throws -> Bool {
        do {
            return try orThrow {
                SecKeyVerifySignature(self, algorithm, input as NSData, signature as NSData, $0) ? true : nil
            }
        } catch let failure as KeyFailure where failure.status == errSecVerifyFailed {
            return false
        }
    }

    func encrypt(_ input: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try orThrow { SecKeyCreateEncryptedData(self, algorithm, input as NSData, $0) } as Data
    }

    func decrypt(_ input: Data, _ algorithm: SecKeyAlgorithm) throws -> Data {
        try orThrow { SecKeyCreateDecryptedData(self, algorithm, input as NSData, $0) } as Data
    }

    func exchange(
        with peer: SecKey, _ algorithm: SecKeyAlgorithm, _ parameters: NSDictionary = [:]
    ) throws -> Data {
        try orThrow { SecKeyCopyKeyExchangeResult(self, algorithm, peer, parameters, $0) } as Data
    }

    func supports(_ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm) -> Bool {
        SecKeyIsAlgorithmSupported(self, operation, algorithm)
    }
}

/// Both halves of a key.
struct KeyPair {
    let `private`: SecKey
    let `public`: SecKey

    init(private: Data, public: Data) throws {
        self.private = try SecKey.make(`private`, kSecAttrKeyClassPrivate)
        self.public = try SecKey.make(`public`, kSecAttrKeyClassPublic)
    }

    init(_ key: SecKey) throws {
        `private` = key
        `public` = try #require(SecKeyCopyPublicKey(key))
    }
}

/// Every name there is.
enum Algorithms {
    static let digests = ["SHA1", "SHA224", "SHA256", "SHA384", "SHA512"]
    static let lengths = ["SHA1": 20, "SHA224": 28, "SHA256": 32, "SHA384": 48, "SHA512": 64]

    static let ecdsa: [String] =
        ["RFC4754", "digest-RFC4754", "digest-X962"].map { "algid:sign:ECDSA:\($0)" }
        + digests.flatMap { digest in
            ["message-X962", "message-RFC4754", "digest-X962", "digest-RFC4754"].map {
                "algid:sign:ECDSA:\($0):\(digest)"
            }
        }

    static let rsaSignatures: [String] =
        ["raw", "digest-PKCS1v15"].map { "algid:sign:RSA:\($0)" }
        + digests.flatMap { digest in
            ["message", "digest"].map { "algid:sign:RSA:\($0)-PKCS1v15:\(digest)" }
        } + rsaPSS

    static let rsaPSS: [String] = digests.flatMap { digest in
        let salt = digest == "SHA224" ? 24 : lengths[digest, default: 0]
        return ["message", "digest"].map { "algid:sign:RSA:\($0)-PSS:\(digest):\(digest):\(salt)" }
    }

    static let rsaEncryption: [String] =
        ["raw", "PKCS1"].map { "algid:encrypt:RSA:\($0)" } + digests.map { "algid:encrypt:RSA:OAEP:\($0)" }
    static let rsaHybrid: [String] = digests.map { "algid:encrypt:RSA:OAEP:\($0):AESGCM" }

    static let ecies: [String] = ["ECDH", "ECDHC"].flatMap { agreement in
        digests.map { "algid:encrypt:ECIES:\(agreement):KDFX963:\($0):AESGCM" }
            + digests.dropFirst().map { "algid:encrypt:ECIES:\(agreement):KDFX963:\($0):AESGCM-KDFIV" }
    }

    static let exchange: [String] = ["ECDH", "ECDHC"].flatMap { agreement in
        ["algid:keyexchange:\(agreement)"] + digests.map { "algid:keyexchange:\(agreement):KDFX963:\($0)" }
    }

    static let all = ecdsa + rsaSignatures + rsaEncryption + rsaHybrid + ecies + exchange

    /// The length that the input must have; nil for any.
    static func digestLength(_ algorithm: String) -> Int? {
        guard algorithm.contains(":digest-") else { return nil }
        let parts = algorithm.split(separator: ":").map(String.init)
        return parts.count > 4 ? lengths[parts[4]] : nil
    }
}
