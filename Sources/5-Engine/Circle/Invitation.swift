import Bytes
import Crypto
import FoundationEssentials
import Frames

/// What an invitation asks of those who use it.
package struct InvitationFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A TPM has to attest the member's keys.
    package static let requiresAttestation = InvitationFlags(rawValue: 1)
    /// A member admits without asking a person.
    package static let needsNoPerson = InvitationFlags(rawValue: 2)
}

/// The secret of an invitation: 128 random bits, which a person gives to another.
///
/// With it, a vault proves that it was invited, and recognizes the circle: the public key in the log depends on the
/// secret and on the first entry of the log, and who does not know the secret cannot make one for another log.
package struct Invitation: Sendable {
    /// In bytes.
    package static let size = 16

    package let secret: SymmetricKey

    /// A new one.
    package init() { self.init(secret: SymmetricKey(size: .bits128)) }

    package init(secret: SymmetricKey) { self.secret = secret }

    /// The key pair of the invitation in the circle whose log begins with the entry with the digest `pin`.
    func key(pin: Data) -> P256.Signing.PrivateKey {
        CircleForm.privateKey(from: secret, salt: pin, "invitation") { number in
            number.withUnsafeBytes { try? P256.Signing.PrivateKey(rawRepresentation: $0) }
        }
    }

    /// The public key, 33 bytes.
    package func publicKey(pin: Data) -> Data { key(pin: pin).publicKey.compressedRepresentation }

    /// What seals the requests that use the invitation. All members have it, from the log.
    package func requestKey(pin: Data) -> SymmetricKey { CircleForm.key(from: secret, salt: pin, "request") }

    /// The name of the invitation in the log.
    package func identifier(pin: Data) -> Identifier16 {
        CircleForm.key(from: secret, salt: pin, "invitation-name").withUnsafeBytes { Identifier16(digest: $0) }
    }
}

/// What an invitation promises, and demands, that only members of the circle may know.
///
///     number of access groups (2), and for each length (2) and name; number of attestation keys (2), and for each
///     length (2) and name (Documentation/Specify/Formats/Enclave.md, "Attestations")
package struct InvitationTerms: Sendable, Hashable {
    /// The access groups whose items the vaults get. If it is empty, the person who admits chooses.
    package var groups: [String]
    /// The names of the attestation keys of the TPMs that may attest; empty if a person looks at each.
    package var attesters: [Data]

    package init(groups: [String] = [], attesters: [Data] = []) { (self.groups, self.attesters) = (groups, attesters) }

    /// The most of each.
    package static let most = 1_000
    private static let what = "terms of an invitation"

    package var encoded: Data {
        let buffer = FrameBuffer()
        buffer.append(UInt16(truncatingIfNeeded: groups.count))
        for group in groups { buffer.append(shortCounted: Data(group.utf8)) }
        buffer.append(UInt16(truncatingIfNeeded: attesters.count))
        for attester in attesters { buffer.append(shortCounted: attester) }
        return buffer.data
    }

    package init(decoding encoded: Data) throws(CircleError) {
        self = try CircleForm.read(encoded, as: Self.what) { reader in
            func list<Value>(_ read: (inout FrameReader) throws(FrameError) -> Value) throws -> [Value] {
                let count = Int(try reader.integer(UInt16.self))
                guard count <= Self.most else { throw CircleError.malformed(Self.what) }
                var values: [Value] = []
                for _ in 0..<count { values.append(try read(&reader)) }
                return values
            }
            return InvitationTerms(
                groups: try list { (reader) throws(FrameError) in try reader.shortText() },
                attesters: try list { (reader) throws(FrameError) in try reader.shortCounted() })
        }
    }
}

/// The request of a vault that was invited.
///
///     offset  bytes  field
///          0      8  "SKJOINRQ"
///          8      1  format, 1
///          9     16  circle
///         25     16  invitation
///         41     64  proof: signature by the invitation's key over "swift-keychain/circle/v1/join" ‖ circle ‖
///                    invitation ‖ SHA-256(keys)
///        105         nonce (12) ‖ sealed body ‖ tag (16)
///
/// The body is sealed with AES-256-GCM under the invitation's key for requests; the additional data is
/// "swift-keychain/circle/v1/join-request" ‖ the first 105 bytes.
///
///     body: keys (2,531), length (2) and name of the machine, formats that it reads (4), length (4) and attestations
///
/// Attestations are three (Documentation/Specify/Formats/Enclave.md), each with its length (4): of the signing key, and
/// of the agreement keys, first that for the time while unlocked. The second and the third have no certificates. The
/// nonce of each is ``attestationNonce(_:_:_:)``.
///
/// The proof is a signature, which any member can check years later in the log.
package struct JoinRequest: Sendable, Hashable {
    private static let magic = "SKJOINRQ"
    private static let what = "request to join"
    package static let mostBytes = 32 << 10

    package let circle: Identifier16
    package let invitation: Identifier16
    package let proof: Data
    private let sealed: Data

    package struct Body: Sendable, Hashable {
        package var keys: MemberKeys
        package var name: String
        package var formats: UInt32
        /// Empty without a TPM.
        package var attestation: Data

        package init(keys: MemberKeys, name: String, formats: UInt32 = 1, attestation: Data = Data()) {
            (self.keys, self.name, self.formats, self.attestation) = (keys, name, formats, attestation)
        }
    }

    /// - Parameter pin: The digest of the first entry of the circle's log.
    package init(_ body: Body, in circle: Identifier16, using invitation: Invitation, pin: Data) throws(CircleError) {
        self.circle = circle
        self.invitation = invitation.identifier(pin: pin)
        let message = Self.message(circle, self.invitation, body.keys)
        guard let proof = try? invitation.key(pin: pin).signature(for: SHA256.hash(data: message)) else {
            throw .malformed("key")
        }
        self.proof = proof.rawRepresentation
        let buffer = FrameBuffer()
        buffer.appendRaw(body.keys.encoded)
        buffer.append(shortCounted: Data(body.name.utf8))
        buffer.append(body.formats)
        body.attestation.withUnsafeBytes { buffer.append(counted: $0) }
        sealed = try SealedText.seal(
            buffer.data, under: invitation.requestKey(pin: pin),
            binding: Self.bindingLabel + Self.head(circle, self.invitation, self.proof))
    }

    package init(decoding encoded: Data) throws(CircleError) {
        guard encoded.count <= Self.mostBytes else { throw .malformed(Self.what) }
        self = try CircleForm.read(encoded, as: Self.what) { reader in
            try CircleForm.readHead(Self.magic, from: &reader, of: Self.what)
            return JoinRequest(
                circle: try Identifier16(from: &reader), invitation: try Identifier16(from: &reader),
                proof: Data(try reader.take(64)), sealed: Data(try reader.take(reader.remaining)))
        }
    }

    private init(circle: Identifier16, invitation: Identifier16, proof: Data, sealed: Data) {
        (self.circle, self.invitation, self.proof, self.sealed) = (circle, invitation, proof, sealed)
    }

    private static let bindingLabel = CircleForm.label("join-request")

    private static func head(_ circle: Identifier16, _ invitation: Identifier16, _ proof: Data) -> Data {
        let buffer = FrameBuffer()
        CircleForm.appendHead(magic, to: buffer)
        buffer.appendRaw(circle.bytes)
        buffer.appendRaw(invitation.bytes)
        buffer.appendRaw(proof)
        return buffer.data
    }

    package var encoded: Data { Self.head(circle, invitation, proof) + sealed }

    static func message(_ circle: Identifier16, _ invitation: Identifier16, _ keys: MemberKeys) -> Data {
        CircleForm.label("join") + circle.bytes + invitation.bytes + keys.fingerprint
    }

    /// What the TPM of a vault signs with its attestations, so that they count for one request only.
    package static func attestationNonce(
        _ circle: Identifier16, _ invitation: Identifier16, _ keys: MemberKeys
    ) -> Data {
        (CircleForm.label("attestation") + circle.bytes + invitation.bytes + keys.fingerprint).sha256
    }

    /// Opens the request, and makes sure that who made it knows the invitation.
    ///
    /// - Parameters:
    ///   - requestKey: ``Invitation/requestKey(pin:)``.
    ///   - key: The invitation's public key, from the log.
    package func open(under requestKey: SymmetricKey, key: Data) throws(CircleError) -> Body {
        let text = try SealedText.open(
            sealed, under: requestKey, binding: Self.bindingLabel + Self.head(circle, invitation, proof), of: Self.what)
        let body = try CircleForm.read(text, as: Self.what) { reader in
            Body(
                keys: try MemberKeys(from: &reader), name: try reader.shortText(), formats: try reader.integer(),
                attestation: Data(try reader.counted(limit: Self.mostBytes)))
        }
        try Self.check(proof, circle, invitation, body.keys, key: key)
        return body
    }

    static func check(
        _ proof: Data, _ circle: Identifier16, _ invitation: Identifier16, _ keys: MemberKeys, key: Data
    ) throws(CircleError) {
        try SignatureKey(compressed: key, of: what).check(
            proof, of: message(circle, invitation, keys), what: "proof of an invitation")
    }
}
