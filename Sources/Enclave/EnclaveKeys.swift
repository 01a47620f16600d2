import Crypto
import Foundation
import SecureMemory

/// Keys that an enclave makes and uses for others, and small secrets that it seals for them.
///
/// The caller stores what it gets, an ``EnclaveBlob``, and shows the authorization each time. Neither helps
/// without the enclave that made the blob.
package protocol EnclaveKeys: Sendable {
    /// Makes a P-256 key whose private half never leaves the enclave.
    ///
    /// - Parameter authorization: Has to be given for each use; 256 bits.
    func createKey(
        for uses: EnclaveKeyUses, authorization: SymmetricKey
    ) throws(EnclaveError) -> EnclaveBlob

    /// The public half, uncompressed (SEC 1, section 2.3.3): 4, x and y; 65 bytes.
    func publicKey(of key: EnclaveBlob) throws(EnclaveError) -> Data

    /// An ECDSA signature: r and s, 32 bytes each.
    ///
    /// - Parameter digest: Of any hash function; what is longer than the curve's order is cut off (FIPS 186-5, section 6.4.1).
    func sign(
        digest: Data, with key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> Data

    /// The x coordinate of the ECDH product with `peer`: 32 bytes.
    ///
    /// - Parameter peer: A public key in the form that ``publicKey(of:)`` has.
    func sharedSecret(
        with peer: Data, using key: EnclaveBlob, authorization: SymmetricKey
    ) throws(EnclaveError) -> LockedBytes

    /// Seals `secret`, of 1 to ``EnclaveLimits/sealedSize`` bytes, to this enclave and `authorization`.
    func seal(_ secret: LockedBytes, authorization: SymmetricKey) throws(EnclaveError) -> EnclaveBlob

    func unseal(_ blob: EnclaveBlob, authorization: SymmetricKey) throws(EnclaveError) -> LockedBytes
}

/// What a key may be used for.
package struct EnclaveKeyUses: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let signing = EnclaveKeyUses(rawValue: 1)
    package static let keyAgreement = EnclaveKeyUses(rawValue: 2)
}

package enum EnclaveLimits {
    /// The most bytes that every TPM seals (TPM 2.0 Library, Part 2, MAX_SYM_DATA).
    package static let sealedSize = 128
    /// The most bytes of a stored blob.
    package static let blobSize = 2048
}

/// A key or a sealed secret as it is stored; without its enclave it is worth nothing. The format is specified in
/// Documentation/Formats.md.
package struct EnclaveBlob: Sendable, Hashable {
    package enum Content: UInt8, Sendable {
        case sealed = 0
        case signingKey = 1
        case agreementKey = 2
        case signingAndAgreementKey = 3
    }

    package let enclave: EnclaveKind
    package let content: Content
    /// What only the enclave understands.
    package let body: Data

    package init(enclave: EnclaveKind, content: Content, body: Data) {
        self.enclave = enclave
        self.content = content
        self.body = body
    }

    /// The uses of a key; empty for a sealed secret.
    package var uses: EnclaveKeyUses { EnclaveKeyUses(rawValue: content.rawValue) }

    package func encoded() -> Data {
        header + body
    }

    /// What `body` is bound to: magic, version, enclave, content.
    package var header: Data {
        Data(Self.magic + [Self.version, enclave.rawValue, content.rawValue])
    }

    package init(decoding encoded: Data) throws(EnclaveError) {
        let bytes = [UInt8](encoded)
        guard bytes.count > Self.headerSize, bytes.count <= EnclaveLimits.blobSize, bytes.starts(with: Self.magic)
        else { throw .damagedBlob(reason: "not a blob of an enclave") }
        guard bytes[6] == Self.version else { throw .damagedBlob(reason: "unknown version \(bytes[6])") }
        guard let enclave = EnclaveKind(rawValue: bytes[7]) else {
            throw .damagedBlob(reason: "unknown enclave \(bytes[7])")
        }
        guard let content = Content(rawValue: bytes[8]) else {
            throw .damagedBlob(reason: "unknown content \(bytes[8])")
        }
        self.init(enclave: enclave, content: content, body: Data(bytes[Self.headerSize...]))
    }

    /// Makes sure that an enclave of `kind` made this, and that it is good for `use`; nil for a sealed secret.
    package func check(madeBy kind: EnclaveKind, for use: EnclaveKeyUses?) throws(EnclaveError) {
        guard enclave == kind else { throw .otherEnclave }
        guard let use else {
            guard content == .sealed else { throw .damagedBlob(reason: "a key where a sealed secret was expected") }
            return
        }
        guard content != .sealed else { throw .damagedBlob(reason: "a sealed secret where a key was expected") }
        guard uses.isSuperset(of: use) else { throw .refused(reason: "the enclave's key is not made for this use") }
    }

    private static let magic = [UInt8]("SKEKEY".utf8)
    private static let version: UInt8 = 1
    private static let headerSize = 9
}

extension EnclaveKeyUses {
    /// What a key with these uses is stored as; nil if it has none or unknown ones.
    package var content: EnclaveBlob.Content? {
        self == [] ? nil : EnclaveBlob.Content(rawValue: rawValue)
    }
}
