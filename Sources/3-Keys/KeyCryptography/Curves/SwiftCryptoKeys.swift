import Bytes
import Certificates
import Crypto
import FoundationEssentials

/// The interface that swift-crypto's curves have in common.
protocol SwiftCryptoKeys: Sendable {
    associatedtype Signing: SwiftCryptoSigningKey
    associatedtype Agreement: SwiftCryptoAgreementKey
    static var curve: EllipticCurve { get }
}

protocol SwiftCryptoSigningKey: Sendable {
    associatedtype Public: SwiftCryptoVerifyingKey
    init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws(CryptoKitMetaError)
    init(compactRepresentable: Bool)
    var x963Representation: Data { get }
    var publicKey: Public { get }
    func signature<Given: Digest>(for digest: Given) throws -> Public.Signature
}

protocol SwiftCryptoVerifyingKey: Sendable {
    associatedtype Signature: SwiftCryptoSignature
    init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws(CryptoKitMetaError)
    func isValidSignature<Given: Digest>(_ signature: Signature, for digest: Given) -> Bool
}

protocol SwiftCryptoSignature: Sendable {
    init<Bytes: DataProtocol>(rawRepresentation: Bytes) throws(CryptoKitMetaError)
    var rawRepresentation: Data { get }
}

protocol SwiftCryptoAgreementKey: Sendable {
    associatedtype Public: SwiftCryptoPeerKey
    init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws(CryptoKitMetaError)
    init(compactRepresentable: Bool)
    var publicKey: Public { get }
    func sharedSecretFromKeyAgreement(with peer: Public) throws(CryptoKitMetaError) -> SharedSecret
}

protocol SwiftCryptoPeerKey: Sendable {
    init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws(CryptoKitMetaError)
    var x963Representation: Data { get }
}

enum P256Keys: SwiftCryptoKeys {
    typealias Signing = P256.Signing.PrivateKey
    typealias Agreement = P256.KeyAgreement.PrivateKey
    static var curve: EllipticCurve { .p256 }
}

enum P384Keys: SwiftCryptoKeys {
    typealias Signing = P384.Signing.PrivateKey
    typealias Agreement = P384.KeyAgreement.PrivateKey
    static var curve: EllipticCurve { .p384 }
}

enum P521Keys: SwiftCryptoKeys {
    typealias Signing = P521.Signing.PrivateKey
    typealias Agreement = P521.KeyAgreement.PrivateKey
    static var curve: EllipticCurve { .p521 }
}

extension P256.Signing.PrivateKey: SwiftCryptoSigningKey {}
extension P256.Signing.PublicKey: SwiftCryptoVerifyingKey {}
extension P256.Signing.ECDSASignature: SwiftCryptoSignature {}
extension P256.KeyAgreement.PrivateKey: SwiftCryptoAgreementKey {}
extension P256.KeyAgreement.PublicKey: SwiftCryptoPeerKey {}
extension P384.Signing.PrivateKey: SwiftCryptoSigningKey {}
extension P384.Signing.PublicKey: SwiftCryptoVerifyingKey {}
extension P384.Signing.ECDSASignature: SwiftCryptoSignature {}
extension P384.KeyAgreement.PrivateKey: SwiftCryptoAgreementKey {}
extension P384.KeyAgreement.PublicKey: SwiftCryptoPeerKey {}
extension P521.Signing.PrivateKey: SwiftCryptoSigningKey {}
extension P521.Signing.PublicKey: SwiftCryptoVerifyingKey {}
extension P521.Signing.ECDSASignature: SwiftCryptoSignature {}
extension P521.KeyAgreement.PrivateKey: SwiftCryptoAgreementKey {}
extension P521.KeyAgreement.PublicKey: SwiftCryptoPeerKey {}
