import Crypto
import Foundation
import JWTKit
import SwiftASN1
import X509

/// Whether a module named `Security` was in sight when this module was compiled.
public let tokensSeeSecurity: Bool = {
    #if canImport(Security)
        true
    #else
        false
    #endif
}()

struct Ticket: JWTPayload {
    var sub: SubjectClaim
    func verify(using algorithm: some JWTAlgorithm) {}
}

/// Signs a token, issues a certificate and reads it back, so that JWTKit and X509 are linked and run.
public func exerciseTokens() async throws -> String {
    let keys = JWTKeyCollection()
    await keys.add(hmac: "a key that is used in this test and nowhere else", digestAlgorithm: .sha256)
    let token = try await keys.sign(Ticket(sub: "somebody"))
    let subject = try await keys.verify(token, as: Ticket.self).sub.value

    let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    let name = try DistinguishedName { CommonName("localhost") }
    let certificate = try Certificate(
        version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: .now,
        notValidAfter: .now + 3600, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
        extensions: .init(), issuerPrivateKey: key)
    let again = try Certificate(pemEncoded: certificate.serializeAsPEM().pemString)
    return "token of \(subject), certificate of \(again.subject)"
}
