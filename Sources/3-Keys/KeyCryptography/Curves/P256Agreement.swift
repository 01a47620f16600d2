import Crypto
import FoundationEssentials

/// Key agreement on P-256 whose private half is used elsewhere, in the types of swift-crypto.
package enum P256Agreement {
    /// Returns the shared secret of which `x` is the x coordinate.
    ///
    /// `SharedSecret` has no initializer from bytes. The product of the scalar 1 and a point is the point: agreeing
    /// with a point that has this x coordinate, either of the two, gives x.
    ///
    /// - Throws: An error of swift-crypto if `x` is the coordinate of no point on the curve.
    package static func sharedSecret(x: Data) throws -> SharedSecret {
        let one = try P256.KeyAgreement.PrivateKey(rawRepresentation: Data(count: 31) + [1])
        let point = try P256.KeyAgreement.PublicKey(compressedRepresentation: [2] + x)
        return try one.sharedSecretFromKeyAgreement(with: point)
    }
}

/// A private key on P-256 in any place, as swift-crypto's HPKE takes one.
package struct P256AgreementKey: HPKEDiffieHellmanPrivateKey {
    package let publicKey: P256.KeyAgreement.PublicKey
    private let agree: @Sendable (_ point: Data) throws -> Data

    /// - Parameters:
    ///   - publicKey: The public half as `04 ‖ X ‖ Y`.
    ///   - agree: Returns the x coordinate of the shared point of the key and a point `04 ‖ X ‖ Y` on the curve.
    /// - Throws: An error of swift-crypto unless `publicKey` is a point on the curve.
    package init(publicKey: Data, agree: @escaping @Sendable (_ point: Data) throws -> Data) throws {
        self.publicKey = try P256.KeyAgreement.PublicKey(x963Representation: publicKey)
        self.agree = agree
    }

    package func sharedSecretFromKeyAgreement(
        with publicKeyShare: P256.KeyAgreement.PublicKey
    ) throws -> SharedSecret {
        try P256Agreement.sharedSecret(x: agree(publicKeyShare.x963Representation))
    }
}
