import Bytes
import FoundationEssentials
import Frames

/// What a member may do in its circle, besides reading.
package struct MemberRights: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Invite and admit others.
    package static let admit = MemberRights(rawValue: 1)
    /// Remove others.
    package static let remove = MemberRights(rawValue: 2)
    /// Make views, and give them to members.
    package static let views = MemberRights(rawValue: 4)
    /// Change items.
    package static let write = MemberRights(rawValue: 8)

    package static let all: MemberRights = [.admit, .remove, .views, .write]
}

/// An entry of the log that says who the members of a circle are. Each names the entry before it by its digest, so that
/// a store can add, change, remove and exchange none.
///
///     offset  bytes  field
///          0      8  "SKCIRCLE"
///          8      1  format, 1
///          9      1  type: 1 create, 2 invite, 3 admit, 4 remove, 5 leave, 6 end an invitation, 7 minimum, 9 recover,
///                   10 recovery key
///         10     16  circle
///         26      4  number of the entry
///         30     32  SHA-256 of the entry before; zeros in the first
///         62      8  time
///         70      4  number of the member that signed it
///         74      2  length of the body
///         76         body
///        end     64  signature by the member's signing key over "swift-keychain/circle/v1/entry" ‖ all before
///
/// Names are sealed under the circle's key, and have their length (2) in front. Bodies:
///
///     create  keys (2,531), name of the machine, commitment of the circle's key (32), formats that the member
///             reads (4)
///     invite  invitation (16), how many it admits (2), deadline (8), rights (1), flags (1), the invitation's
///             public key (33), key of its requests, sealed as a name, and its terms, sealed as a name
///             (``InvitationTerms``)
///     admit   number of the member (4), rights (1), invitation (16), keys (2,531), proof (64), name of the machine,
///             SHA-256 of the attestation (32) or zeros, formats that the member reads (4)
///     remove  number of the member (4)
///     leave   nothing: the signer leaves
///     end     invitation (16)
///     minimum formats that each member has to read (4), length (2) and text: the version of the software that does
///     recover number of the member (4), keys (2,531), name of the machine, formats that the member reads (4); the
///             signer is 0, and the recovery key signs
///     key     keys of the recovery key (2,531)
package struct MembershipEntry: Sendable, Hashable {
    package static let mostBytes = 64 << 10
    private static let magic = "SKCIRCLE"
    private static let what = "entry of the circle's log"

    package struct Creation: Sendable, Hashable {
        package var keys: MemberKeys
        package var sealedName: Data
        package var keyCommitment: Data
        package var formats: UInt32

        package init(keys: MemberKeys, sealedName: Data, keyCommitment: Data, formats: UInt32) {
            (self.keys, self.sealedName, self.keyCommitment, self.formats) = (keys, sealedName, keyCommitment, formats)
        }
    }

    package struct Offer: Sendable, Hashable {
        package var invitation: Identifier16
        /// How many members it admits.
        package var count: UInt16
        package var deadline: HybridTime
        package var rights: MemberRights
        package var flags: InvitationFlags
        /// 33 bytes.
        package var key: Data
        /// ``Invitation/requestKey(pin:)``, sealed under the circle's key.
        package var sealedRequestKey: Data
        /// ``InvitationTerms``, sealed under the circle's key.
        package var sealedTerms: Data

        package init(
            invitation: Identifier16, count: UInt16, deadline: HybridTime, rights: MemberRights, flags: InvitationFlags,
            key: Data, sealedRequestKey: Data, sealedTerms: Data
        ) {
            (self.invitation, self.count, self.deadline) = (invitation, count, deadline)
            (self.rights, self.flags, self.key) = (rights, flags, key)
            (self.sealedRequestKey, self.sealedTerms) = (sealedRequestKey, sealedTerms)
        }
    }

    package struct Admission: Sendable, Hashable {
        package var number: UInt32
        package var rights: MemberRights
        package var invitation: Identifier16
        package var keys: MemberKeys
        /// The signature with the invitation's key; see ``JoinRequest``.
        package var proof: Data
        package var sealedName: Data
        package var attestation: Data
        package var formats: UInt32

        package init(
            number: UInt32, rights: MemberRights, invitation: Identifier16, keys: MemberKeys, proof: Data,
            sealedName: Data, attestation: Data, formats: UInt32
        ) {
            (self.number, self.rights, self.invitation, self.keys) = (number, rights, invitation, keys)
            (self.proof, self.sealedName) = (proof, sealedName)
            (self.attestation, self.formats) = (attestation, formats)
        }
    }

    /// A member that the recovery key admitted.
    package struct Recovery: Sendable, Hashable {
        package var number: UInt32
        package var keys: MemberKeys
        package var sealedName: Data
        package var formats: UInt32

        package init(number: UInt32, keys: MemberKeys, sealedName: Data, formats: UInt32) {
            (self.number, self.keys, self.sealedName, self.formats) = (number, keys, sealedName, formats)
        }
    }

    package enum Body: Sendable, Hashable {
        case create(Creation)
        case invite(Offer)
        case admit(Admission)
        case remove(UInt32)
        case leave
        case end(Identifier16)
        /// Formats that each member has to read, and the version of the software that does.
        case minimum(formats: UInt32, version: String)
        case recover(Recovery)
        /// The recovery key from now on.
        case recoveryKey(MemberKeys)
        /// Later software made it. It may remove somebody, so nothing after it counts for this software.
        case unknown(type: UInt8, Data)
    }

    package let circle: Identifier16
    package let number: UInt32
    package let previous: Data
    package let time: HybridTime
    package let signer: UInt32
    package let body: Body
    /// The entry as it is stored.
    package let encoded: Data

    /// Makes and signs an entry.
    ///
    /// - Parameter previous: The digest of the entry before; zeros for the first.
    package init(
        _ body: Body, in circle: Identifier16, number: UInt32, previous: Data, time: HybridTime, signer: UInt32,
        signedBy sign: CircleSigner
    ) throws {
        (self.circle, self.number, self.previous, self.time) = (circle, number, previous, time)
        (self.signer, self.body) = (signer, body)
        let buffer = FrameBuffer()
        CircleForm.appendHead(Self.magic, to: buffer)
        buffer.append(Self.type(of: body))
        buffer.appendRaw(circle.bytes)
        buffer.append(number)
        buffer.appendRaw(previous)
        buffer.append(time.rawValue)
        buffer.append(signer)
        buffer.append(shortCounted: Self.encode(body))
        let message = buffer.data
        encoded = message + (try sign((Self.label + message).sha256))
        guard encoded.count <= Self.mostBytes else { throw CircleError.notPermitted("an entry of more than 64 KiB") }
    }

    /// Reads an entry. Nothing of it is checked before ``MembershipLog/append(_:)``.
    package init(decoding encoded: Data) throws(CircleError) {
        guard encoded.count <= Self.mostBytes else { throw .malformed(Self.what) }
        self = try CircleForm.read(encoded, as: Self.what) { reader in
            try CircleForm.readHead(Self.magic, from: &reader, of: Self.what)
            let type: UInt8 = try reader.integer()
            let circle = try Identifier16(from: &reader)
            let number: UInt32 = try reader.integer()
            let previous = Data(try reader.take(32))
            let time = HybridTime(rawValue: try reader.integer())
            let signer: UInt32 = try reader.integer()
            let body = try Self.decode(type, try reader.shortCounted())
            _ = try reader.take(SignatureKey.signatureSize)
            return MembershipEntry(
                circle: circle, number: number, previous: previous, time: time, signer: signer, body: body,
                encoded: encoded)
        }
    }

    private init(
        circle: Identifier16, number: UInt32, previous: Data, time: HybridTime, signer: UInt32, body: Body,
        encoded: Data
    ) {
        (self.circle, self.number, self.previous, self.time) = (circle, number, previous, time)
        (self.signer, self.body, self.encoded) = (signer, body, encoded)
    }

    private static let label = CircleForm.label("entry")

    /// What the next entry names it by.
    package var digest: Data { encoded.sha256 }

    /// - Throws: ``CircleError/forged(_:)`` unless the member with these keys signed it.
    package func check(signedBy keys: MemberKeys) throws(CircleError) {
        try SignatureKey(compressed: keys.signing, of: Self.what).check(
            encoded.suffix(SignatureKey.signatureSize),
            of: Self.label + encoded.dropLast(SignatureKey.signatureSize), what: Self.what)
    }

    // MARK: Bodies

    private static func type(of body: Body) -> UInt8 {
        switch body {
        case .create: 1
        case .invite: 2
        case .admit: 3
        case .remove: 4
        case .leave: 5
        case .end: 6
        case .minimum: 7
        case .recover: 9
        case .recoveryKey: 10
        case .unknown(let type, _): type
        }
    }

    private static func encode(_ body: Body) -> Data {
        let buffer = FrameBuffer()
        switch body {
        case .create(let creation):
            buffer.appendRaw(creation.keys.encoded)
            buffer.append(shortCounted: creation.sealedName)
            buffer.appendRaw(creation.keyCommitment)
            buffer.append(creation.formats)
        case .invite(let offer):
            buffer.appendRaw(offer.invitation.bytes)
            buffer.append(offer.count)
            buffer.append(offer.deadline.rawValue)
            buffer.append(offer.rights.rawValue)
            buffer.append(offer.flags.rawValue)
            buffer.appendRaw(offer.key)
            buffer.append(shortCounted: offer.sealedRequestKey)
            buffer.append(shortCounted: offer.sealedTerms)
        case .admit(let admission):
            buffer.append(admission.number)
            buffer.append(admission.rights.rawValue)
            buffer.appendRaw(admission.invitation.bytes)
            buffer.appendRaw(admission.keys.encoded)
            buffer.appendRaw(admission.proof)
            buffer.append(shortCounted: admission.sealedName)
            buffer.appendRaw(admission.attestation)
            buffer.append(admission.formats)
        case .remove(let number): buffer.append(number)
        case .leave: break
        case .end(let invitation): buffer.appendRaw(invitation.bytes)
        case .minimum(let formats, let version):
            buffer.append(formats)
            buffer.append(shortCounted: Data(version.utf8))
        case .recover(let recovery):
            buffer.append(recovery.number)
            buffer.appendRaw(recovery.keys.encoded)
            buffer.append(shortCounted: recovery.sealedName)
            buffer.append(recovery.formats)
        case .recoveryKey(let keys): buffer.appendRaw(keys.encoded)
        case .unknown(_, let bytes): buffer.appendRaw(bytes)
        }
        return buffer.data
    }

    private static func decode(_ type: UInt8, _ bytes: Data) throws(CircleError) -> Body {
        try CircleForm.read(bytes, as: what) { reader in
            switch type {
            case 1:
                .create(
                    Creation(
                        keys: try MemberKeys(from: &reader), sealedName: try reader.shortCounted(),
                        keyCommitment: Data(try reader.take(32)), formats: try reader.integer()))
            case 2:
                .invite(
                    Offer(
                        invitation: try Identifier16(from: &reader), count: try reader.integer(),
                        deadline: HybridTime(rawValue: try reader.integer()),
                        rights: MemberRights(rawValue: try reader.integer()),
                        flags: InvitationFlags(rawValue: try reader.integer()), key: Data(try reader.take(33)),
                        sealedRequestKey: try reader.shortCounted(), sealedTerms: try reader.shortCounted()))
            case 3:
                .admit(
                    Admission(
                        number: try reader.integer(), rights: MemberRights(rawValue: try reader.integer()),
                        invitation: try Identifier16(from: &reader), keys: try MemberKeys(from: &reader),
                        proof: Data(try reader.take(64)), sealedName: try reader.shortCounted(),
                        attestation: Data(try reader.take(32)), formats: try reader.integer()))
            case 4: .remove(try reader.integer())
            case 5: .leave
            case 6: .end(try Identifier16(from: &reader))
            case 7: .minimum(formats: try reader.integer(), version: try reader.shortText())
            case 9:
                .recover(
                    Recovery(
                        number: try reader.integer(), keys: try MemberKeys(from: &reader),
                        sealedName: try reader.shortCounted(), formats: try reader.integer()))
            case 10: .recoveryKey(try MemberKeys(from: &reader))
            default: .unknown(type: type, Data(try reader.take(reader.remaining)))
            }
        }
    }
}
