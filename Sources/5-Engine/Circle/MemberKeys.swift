import Bytes
import Crypto
import FoundationEssentials
import Frames

/// The public keys of a member, 2,531 bytes: the signing key (33), and for each class the agreement key in the enclave
/// (33) and the hybrid key (1,216); first those for the time while the vault is unlocked.
///
/// P-256 keys are compressed (SEC 1, section 2.3.3). A hybrid key is ML-KEM-768 and X25519 (X-Wing,
/// draft-connolly-cfrg-xwing-kem): a quantum computer of later years does not open what is sealed today.
package struct MemberKeys: Sendable, Hashable {
    package static let size = 33 + 2 * Pair.size

    /// What seals a key for a member.
    package struct Pair: Sendable, Hashable {
        static let size = 33 + 1_216

        package let agreement: Data
        package let hybrid: Data

        /// - Parameters:
        ///   - agreement: The enclave's key as `04 ‖ X ‖ Y`.
        ///   - hybrid: X-Wing's public key.
        package init(agreement: Data, hybrid: Data) throws(CircleError) {
            guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: agreement), hybrid.count == 1_216
            else {
                throw .malformed("key of a member")
            }
            (self.agreement, self.hybrid) = (key.compressedRepresentation, hybrid)
        }

        fileprivate init(from reader: inout FrameReader) throws {
            agreement = Data(try reader.take(33))
            hybrid = Data(try reader.take(1_216))
            // A member whose keys are no keys could be admitted, and then no key could be sealed for it.
            _ = try P256.KeyAgreement.PublicKey(compressedRepresentation: agreement)
            _ = try XWingMLKEM768X25519.PublicKey(rawRepresentation: hybrid)
        }

        fileprivate var encoded: Data { agreement + hybrid }
    }

    /// 33 bytes.
    package let signing: Data
    package let whileUnlocked: Pair
    package let afterFirstUnlock: Pair

    /// - Parameter signing: The enclave's signing key as `04 ‖ X ‖ Y`.
    package init(signing: Data, whileUnlocked: Pair, afterFirstUnlock: Pair) throws(CircleError) {
        guard let key = try? P256.Signing.PublicKey(x963Representation: signing) else {
            throw .malformed("key of a member")
        }
        self.signing = key.compressedRepresentation
        (self.whileUnlocked, self.afterFirstUnlock) = (whileUnlocked, afterFirstUnlock)
    }

    /// - Throws: ``CircleError/malformed(_:)``.
    package init(decoding encoded: Data) throws(CircleError) {
        self = try CircleForm.read(encoded, as: "key of a member") { try MemberKeys(from: &$0) }
    }

    init(from reader: inout FrameReader) throws {
        signing = Data(try reader.take(33))
        _ = try P256.Signing.PublicKey(compressedRepresentation: signing)
        whileUnlocked = try Pair(from: &reader)
        afterFirstUnlock = try Pair(from: &reader)
    }

    package var encoded: Data { signing + whileUnlocked.encoded + afterFirstUnlock.encoded }

    package subscript(keyClass: KeyClass) -> Pair {
        keyClass == .whileUnlocked ? whileUnlocked : afterFirstUnlock
    }

    /// What two people compare, to see that they look at the same keys: the SHA-256 digest.
    package var fingerprint: Data { encoded.sha256 }
}

/// The private half of a pair of a member: the agreement key stays in the enclave.
package struct MemberSecrets<Agreement: HPKEDiffieHellmanPrivateKey>
where Agreement.PublicKey == P256.KeyAgreement.PublicKey {
    let agreement: Agreement
    let hybrid: XWingMLKEM768X25519.PrivateKey

    /// - Parameter hybrid: The seed of the X-Wing key, 32 bytes.
    package init(agreement: Agreement, hybrid: Data) throws(CircleError) {
        guard let key = try? XWingMLKEM768X25519.PrivateKey(seedRepresentation: hybrid, publicKey: nil) else {
            throw .malformed("key of a member")
        }
        (self.agreement, self.hybrid) = (agreement, key)
    }
}
