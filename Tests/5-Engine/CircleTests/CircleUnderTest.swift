import Bytes
import Crypto
import Foundation
import TestSupport
import Testing

@testable import Circle

/// A member with its private keys, as no member has them: all in software.
struct MemberUnderTest: Sendable {
    let signing: P256.Signing.PrivateKey
    let agreement: [KeyClass: P256.KeyAgreement.PrivateKey]
    let hybrid: [KeyClass: Data]

    init() {
        signing = P256.Signing.PrivateKey()
        agreement = [.whileUnlocked: P256.KeyAgreement.PrivateKey(), .afterFirstUnlock: P256.KeyAgreement.PrivateKey()]
        hybrid = [.whileUnlocked: Data.random(32), .afterFirstUnlock: Data.random(32)]
    }

    /// - Parameter fixed: From the published vectors.
    init(_ fixed: Vectors.Member) throws {
        signing = try P256.Signing.PrivateKey(rawRepresentation: fixed.signing.bytes)
        var (agreement, hybrid): ([KeyClass: P256.KeyAgreement.PrivateKey], [KeyClass: Data]) = ([:], [:])
        for keyClass in KeyClass.allCases {
            let pair = try #require(fixed.pairs["\(keyClass.rawValue)"])
            agreement[keyClass] = try P256.KeyAgreement.PrivateKey(rawRepresentation: pair[0].bytes)
            hybrid[keyClass] = pair[1].bytes
        }
        (self.agreement, self.hybrid) = (agreement, hybrid)
    }

    var sign: CircleSigner {
        { digest in try signing.signature(for: Digest(digest)).rawRepresentation }
    }

    func keys() throws -> MemberKeys {
        func pair(_ keyClass: KeyClass) throws -> MemberKeys.Pair {
            let (key, seed) = (try #require(agreement[keyClass]), try #require(hybrid[keyClass]))
            return try MemberKeys.Pair(
                agreement: key.publicKey.x963Representation,
                hybrid: XWingMLKEM768X25519.PrivateKey(seedRepresentation: seed, publicKey: nil)
                    .publicKey.rawRepresentation)
        }
        return try MemberKeys(
            signing: signing.publicKey.x963Representation, whileUnlocked: pair(.whileUnlocked),
            afterFirstUnlock: pair(.afterFirstUnlock))
    }

    func secrets(_ keyClass: KeyClass) throws -> MemberSecrets<P256.KeyAgreement.PrivateKey> {
        try MemberSecrets(agreement: #require(agreement[keyClass]), hybrid: #require(hybrid[keyClass]))
    }

    /// A SHA-256 digest that was made elsewhere.
    struct Digest: Crypto.Digest {
        static let byteCount = 32
        let bytes: Data

        init(_ bytes: Data) { self.bytes = bytes }

        func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            try bytes.withUnsafeBytes(body)
        }

        func makeIterator() -> Data.Iterator { bytes.makeIterator() }
    }
}

/// A circle of members in software.
struct CircleUnderTest {
    var log: MembershipLog
    var entries: [Data]
    var members: [UInt32: MemberUnderTest]
    let key = CircleKey()
    var clock = CircleClock(last: .zero)

    init() throws {
        let (first, circle) = (MemberUnderTest(), Identifier16.random())
        let creation = MembershipEntry.Creation(
            keys: try first.keys(), sealedName: try key.seal(Data("first".utf8), in: circle),
            keyCommitment: key.commitment, formats: 1)
        let entry = try MembershipEntry(
            .create(creation), in: circle, number: 0, previous: Data(count: 32), time: HybridTime(Date()), signer: 1,
            signedBy: first.sign)
        log = try MembershipLog(first: entry.encoded)
        (entries, members) = ([entry.encoded], [1: first])
    }

    /// An entry that `signer` makes, signed by `other` if there is one.
    mutating func entry(
        _ body: MembershipEntry.Body, by signer: UInt32 = 1, signedBy other: MemberUnderTest? = nil,
        after seconds: Double = 0
    ) throws -> Data {
        let sign = try #require(other ?? members[signer]).sign
        let time = clock.next(now: Date().addingTimeInterval(seconds))
        return try log.entry(body, signer: signer, time: time, signedBy: sign).encoded
    }

    mutating func append(
        _ body: MembershipEntry.Body, by signer: UInt32 = 1, signedBy other: MemberUnderTest? = nil,
        after seconds: Double = 0
    ) throws {
        let entry = try entry(body, by: signer, signedBy: other, after: seconds)
        try log.append(entry)
        entries.append(entry)
    }

    mutating func append(_ entry: Data) throws { try log.append(entry) }

    func offer(
        _ invitation: Invitation, count: UInt16 = 1, rights: MemberRights = .all, flags: InvitationFlags = [],
        for seconds: Double = 3_600
    ) throws -> MembershipEntry.Offer {
        let requestKey = invitation.requestKey(pin: log.pin).withUnsafeBytes { Data($0) }
        return MembershipEntry.Offer(
            invitation: invitation.identifier(pin: log.pin), count: count,
            deadline: HybridTime(Date().addingTimeInterval(seconds)), rights: rights, flags: flags,
            key: invitation.publicKey(pin: log.pin), sealedRequestKey: try key.seal(requestKey, in: log.circle),
            sealedTerms: try key.seal(InvitationTerms().encoded, in: log.circle))
    }

    func admission(
        _ member: MemberUnderTest, with invitation: Invitation, rights: MemberRights = .all, number: UInt32? = nil
    ) throws -> MembershipEntry.Admission {
        let request = try JoinRequest(
            JoinRequest.Body(keys: try member.keys(), name: "another"), in: log.circle, using: invitation, pin: log.pin)
        return MembershipEntry.Admission(
            number: number ?? log.nextNumber, rights: rights, invitation: request.invitation, keys: try member.keys(),
            proof: request.proof, sealedName: try key.seal(Data("another".utf8), in: log.circle),
            attestation: Data(count: 32), formats: 1)
    }

    /// Admits a new member.
    @discardableResult
    mutating func admit(rights: MemberRights = .all) throws -> UInt32 {
        let (invitation, member) = (Invitation(), MemberUnderTest())
        try append(.invite(try offer(invitation, rights: rights)))
        let admission = try admission(member, with: invitation, rights: rights)
        try append(.admit(admission))
        members[admission.number] = member
        return admission.number
    }

    /// Admits a new member with the recovery key.
    @discardableResult
    mutating func recover(with recovery: CircleRecovery, formats: UInt32 = 1) throws -> UInt32 {
        let (member, number) = (MemberUnderTest(), log.nextNumber)
        let entry = try log.entry(
            .recover(
                MembershipEntry.Recovery(
                    number: number, keys: member.keys(), sealedName: key.seal(Data("again".utf8), in: log.circle),
                    formats: formats)),
            signer: CircleRecovery.number, time: clock.next(now: Date()), signedBy: recovery.signer
        ).encoded
        try log.append(entry)
        entries.append(entry)
        members[number] = member
        return number
    }

    func writer(_ member: UInt32, serial: UInt16 = 1, until: HybridTime = .latest) throws -> RecordWriter {
        let sign = try #require(members[member]).sign
        return try RecordWriter.make(
            circle: log.circle, member: member, serial: serial, from: .zero, until: until, signedBy: sign
        ).writer
    }
}

/// What `Peer/circle.py` publishes.
struct Vectors: Decodable {
    struct Member: Decodable {
        let signing: Hex
        let pairs: [String: [Hex]]
    }

    let log: [Hex]
    let circleKey: Hex
    let members: [String: Member]
    let invitation: Hex
    let request: Hex
    let view: Hex
    let keys: [String: Hex]
    let viewEntry: Hex
    let deliveries: [Hex]
    let certificate: Hex
    let head: Hex
    let primaryKey: Hex
    let name: Hex
    let records: [Hex]
    let recoveryKey: Hex
    let recoveryDelivery: Hex
    let terms: Hex
    let nonce: Hex

    /// Bytes as hexadecimal digits.
    struct Hex: Decodable {
        let bytes: Data

        init(from decoder: any Decoder) throws {
            let digits = try decoder.singleValueContainer().decode(String.self)
            bytes = Data(try #require([UInt8](hexadecimal: digits.utf8)))
        }
    }

    static func published() throws -> Vectors {
        let file = try #require(Bundle.module.url(forResource: "Fixtures/vectors", withExtension: "json"))
        return try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: file))
    }
}

extension Data {
    static func random(_ count: Int) -> Data { Data([UInt8].random(count: count)) }
}
