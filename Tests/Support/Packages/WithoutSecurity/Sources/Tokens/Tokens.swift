import Crypto
import Foundation
import JWTKit
import SwiftASN1
import X509

/// Whether a module named `Security` was in sight when this library was compiled.
public let libraryCanImportSecurity: Bool = {
    #if canImport(Security)
    true
    #else
    false
    #endif
}()

/// The same for `CommonCrypto`.
public let libraryCanImportCommonCrypto: Bool = {
    #if canImport(CommonCrypto)
    true
    #else
    false
    #endif
}()

struct Ticket: JWTPayload {
    var sub: SubjectClaim
    func verify(using algorithm: some JWTAlgorithm) {}
}

/// Returns the digest of `data` by swift-crypto.
public func sha256(_ data: Data) -> [UInt8] { Array(SHA256.hash(data: data)) }

/// Signs a token and verifies it, so that JWTKit is linked and runs.
///
/// - Returns: The token's subject.
public func exerciseTokens() async throws -> String {
    let keys = JWTKeyCollection()
    await keys.add(hmac: "a key that is used in this program and nowhere else", digestAlgorithm: .sha256)
    let token = try await keys.sign(Ticket(sub: "somebody"))
    return try await keys.verify(token, as: Ticket.self).sub.value
}

/// Issues a certificate and reads it back, so that X509 is linked and runs.
///
/// - Returns: The certificate in DER.
public func issueCertificate() throws -> Data {
    let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    let name = try DistinguishedName { CommonName("localhost") }
    let issued = try Certificate(
        version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: .now,
        notValidAfter: .now + 3600, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
        extensions: .init(), issuerPrivateKey: key)
    let parsed = try Certificate(pemEncoded: issued.serializeAsPEM().pemString)
    var serializer = DER.Serializer()
    try serializer.serialize(parsed)
    return Data(serializer.serializedBytes)
}
