import Bytes
import Crypto
import Foundation
import KeychainModel
import Synchronization
import TestSupport
import Testing

@testable import Circle

/// The forms of a circle, against vectors that another program made, and read by that program.
@Suite struct CircleFormTests {
    private static let peer = Mutex(
        Result { try PythonPeer(Repository.file("Tests/5-Engine/CircleTests/Peer/circle.py").path) })

    /// What the peer reads in a form.
    private func read(_ what: String, _ data: [String: Any]) throws -> [String: Any] {
        var question = data
        question["what"] = what
        for (key, value) in question { if let bytes = value as? Data { question[key] = bytes.hexadecimal() } }
        let text = String(decoding: try JSONSerialization.data(withJSONObject: question), as: UTF8.self)
        let answer = try Self.peer.withLock { try $0.get() }.ask(["read", text])
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])
    }

    @Test func opensTheVectors() throws {
        let vectors = try Vectors.published()
        let entries = vectors.log.map(\.bytes)
        var log = try MembershipLog(first: entries[0], pin: entries[0].sha256)
        for entry in entries.dropFirst() { try log.append(entry) }
        #expect(log.present.map(\.number) == [2, 3] && log.minimum == 1)
        #expect(log.members[1]?.removed == 4)
        let circleKey = CircleKey(secret: SymmetricKey(data: vectors.circleKey.bytes))
        #expect(log.keyCommitment == circleKey.commitment)
        let names = try log.members.mapValues {
            String(decoding: try circleKey.open($0.sealedName, in: log.circle), as: UTF8.self)
        }
        #expect(names == [1: "laptop", 2: "server", 3: "again"])

        let members = try vectors.members.mapValues(MemberUnderTest.init)
        let (first, second) = (try #require(members["first"]), try #require(members["second"]))
        #expect(log.members[1]?.keys == (try first.keys()))
        #expect(log.members[2]?.keys == (try second.keys()))

        let invitation = Invitation(secret: SymmetricKey(data: vectors.invitation.bytes))
        let offer = try #require(log.invitations[invitation.identifier(pin: log.pin)]?.offer)
        #expect(offer.key == invitation.publicKey(pin: log.pin))
        let requestKey = SymmetricKey(data: try circleKey.open(offer.sealedRequestKey, in: log.circle))
        let request = try JoinRequest(decoding: vectors.request.bytes).open(under: requestKey, key: offer.key)
        #expect(request.name == "server" && request.formats == 1)
        #expect(request.keys == (try second.keys()))

        let terms = try InvitationTerms(decoding: circleKey.open(offer.sealedTerms, in: log.circle))
        #expect(terms.encoded == vectors.terms.bytes && terms.groups == ["com.example.shop"])
        #expect(terms.attesters.map(\.count) == [34])
        #expect(
            JoinRequest.attestationNonce(log.circle, offer.invitation, request.keys) == vectors.nonce.bytes)

        let view = try #require(Identifier16(vectors.view.bytes))
        let recovery = try CircleRecovery(
            secret: SymmetricKey(data: vectors.recoveryKey.bytes), in: log.circle)
        #expect(log.recovery == recovery.keys)
        let saved = try KeyDelivery(decoding: vectors.recoveryDelivery.bytes)
            .open(with: recovery.secrets(.afterFirstUnlock))
        #expect(saved.view == view && saved.key.withUnsafeBytes { Data($0) } == vectors.keys["2"]?.bytes)
        for bytes in vectors.deliveries.map(\.bytes) {
            let delivery = try KeyDelivery(decoding: bytes)
            let contents = try delivery.open(with: second.secrets(delivery.keyClass))
            #expect(contents.view == view && contents.generation == 0)
            #expect(contents.key.withUnsafeBytes { Data($0) } == vectors.keys["\(delivery.keyClass.rawValue)"]?.bytes)
            #expect(delivery.encoded == bytes)
        }
        let keys = try Dictionary(
            uniqueKeysWithValues: KeyClass.allCases.map {
                ($0, ViewKey(secret: SymmetricKey(data: try #require(vectors.keys["\($0.rawValue)"]).bytes)))
            })
        let key = try #require(keys[.afterFirstUnlock])
        let body = try ViewEntry(decoding: vectors.viewEntry.bytes).open(under: key, signedBy: first.keys())
        #expect(body.name == "com.example.shop" && body.holders == [1, 2] && !body.isClosed)
        #expect(body.recovery == recovery.keys.fingerprint)
        for (keyClass, key) in keys { #expect(body.commitment(keyClass) == key.commitment) }

        let head = try MemberHead(decoding: vectors.head.bytes)
        try head.check(signedBy: second.keys())
        let said = try head.open(under: circleKey)
        #expect(head.member == 2 && head.sequence == 9 && head.encoded == vectors.head.bytes)
        #expect(
            said.entry == 4 && said.digest == vectors.log[4].bytes.sha256 && said.carrier == "folder"
                && said.statement.count == 24)

        let certificate = try WriterCertificate(decoding: vectors.certificate.bytes)
        try certificate.check(signedBy: first.keys())
        let name = key.name(ofPrimaryKey: Array(vectors.primaryKey.bytes))
        #expect(name.bytes == vectors.name.bytes)
        let place = CircleRecord.Place(circle: log.circle, view: view, name: name)
        for bytes in vectors.records.map(\.bytes) {
            let record = try CircleRecord(decoding: bytes)
            try record.check(at: place, by: RecordChecker(certificate))
            let body = try record.open(at: place, under: #require(keys[record.keyClass]))
            guard case .tombstone(let tombstone) = body.subject else {
                Issue.record("it is no tombstone")
                continue
            }
            #expect(tombstone.deleted == Date(timeIntervalSinceReferenceDate: 800_000_000))
            #expect(tombstone.deadline.timeIntervalSince(tombstone.deleted) == ItemTombstone.kept)
            #expect(body.ancestors.times.keys.sorted() == [2])
            #expect(record.encoded == bytes)
        }
    }

    @Test func anotherProgramReadsIt() throws {
        var circle = try CircleUnderTest()
        let number = try circle.admit()
        let second = try #require(circle.members[number])
        try circle.append(.remove(1), by: number)
        let recovery = try CircleRecovery(secret: SymmetricKey(size: .bits256), in: circle.log.circle)
        try circle.append(.recoveryKey(recovery.keys), by: number)
        try circle.append(.minimum(formats: 1, version: "0.3.0"), by: number)
        try circle.recover(with: recovery)
        let log = try read("log", ["entries": circle.entries.map { $0.hexadecimal() }])
        #expect(log["head"] as? String == circle.log.head.hexadecimal())
        #expect(log["pin"] as? String == circle.log.pin.hexadecimal())

        let (view, keys) = (Identifier16.random(), (ViewKey(), ViewKey()))
        let secret = keys.1.secret.withUnsafeBytes { Data($0) }
        for keyClass in KeyClass.allCases {
            let delivery = try KeyDelivery(
                keys.1.secret, of: view, generation: 3, in: circle.log.circle, to: number, keyClass, second.keys())
            #expect(delivery.encoded.count == KeyDelivery.size)
            let answer = try read(
                "delivery",
                [
                    "data": delivery.encoded, "kind": Data([keyClass.rawValue]),
                    "agreement": #require(second.agreement[keyClass]).rawRepresentation,
                    "hybrid": #require(second.hybrid[keyClass]),
                ])
            #expect(answer["key"] as? String == secret.hexadecimal() && answer["generation"] as? Int == 3)
        }

        let body = ViewEntry.Body(
            previous: Data(count: 32), time: HybridTime(Date()), whileUnlocked: keys.0.commitment,
            afterFirstUnlock: keys.1.commitment, isClosed: true, name: "grüße", holders: [7, 300, 2])
        let entry = try ViewEntry(
            body, of: view, in: circle.log.circle, generation: 3, number: 1, signer: number, under: keys.1,
            signedBy: second.sign)
        let signing = try second.keys().signing
        var answer = try read("viewEntry", ["data": entry.encoded, "key": secret, "signing": signing])
        #expect(answer["name"] as? String == "grüße" && answer["holders"] as? [Int] == [2, 7, 300])
        #expect(answer["closed"] as? Int == 1)

        let writer = try circle.writer(number, serial: 9)
        answer = try read("certificate", ["data": writer.certificate.encoded, "signing": signing])
        #expect(answer["serial"] as? Int == 9 && answer["key"] as? String == writer.certificate.key.hexadecimal())

        let head = try MemberHead(
            MemberHead.Body(
                time: HybridTime(Date()), entry: 7, digest: circle.log.head, carrier: "folder",
                statement: Data([1, 2, 3])),
            in: circle.log.circle, member: number, sequence: 12, under: circle.key, signedBy: second.sign)
        answer = try read(
            "head",
            ["data": head.encoded, "key": circle.key.secret.withUnsafeBytes { Data($0) }, "signing": signing])
        #expect(answer["sequence"] as? Int == 12 && answer["entry"] as? Int == 7)
        #expect(answer["statement"] as? String == "010203" && answer["carrier"] as? String == "folder")

        let item = ItemUnderTest.item(value: Data("secret".utf8))
        let primaryKey = ItemPayload.primaryKey(of: item)
        let name = keys.1.name(ofPrimaryKey: primaryKey)
        answer = try read("name", ["key": secret, "primaryKey": Data(primaryKey)])
        #expect(answer["name"] as? String == name.description)
        let place = CircleRecord.Place(circle: circle.log.circle, view: view, name: name)
        let record = try CircleRecord(
            .item, RecordBody(ancestors: Ancestors([1: HybridTime(rawValue: 77)]), subject: .item(item)),
            version: RecordVersion(time: HybridTime(Date()), member: number), at: place, generation: 3,
            .afterFirstUnlock, under: keys.1, by: writer)
        answer = try read(
            "record",
            [
                "data": record.encoded, "circle": place.circle.bytes, "view": view.bytes, "name": name.bytes,
                "key": secret, "writer": writer.certificate.key,
            ])
        #expect(answer["ancestors"] as? [String: Int] == ["1": 77])
        let digits = try #require(answer["subject"] as? String)
        let subject = Data(try #require([UInt8](hexadecimal: digits.utf8)))
        #expect(subject.suffix(6) == Data("secret".utf8))

        let invitation = Invitation()
        let request = try JoinRequest(
            JoinRequest.Body(keys: second.keys(), name: "machine", attestation: Data([1, 2, 3])),
            in: circle.log.circle, using: invitation, pin: circle.log.pin)
        answer = try read(
            "request",
            [
                "data": request.encoded, "secret": invitation.secret.withUnsafeBytes { Data($0) },
                "pin": circle.log.pin,
            ])
        #expect(answer["name"] as? String == "machine" && answer["attestation"] as? String == "010203")
    }
}

enum ItemUnderTest {
    static func item(
        account: String = "user", protection: ProtectionClass = .afterFirstUnlock, value: Data? = Data("value".utf8)
    ) -> StoredItem {
        let now = Date(timeIntervalSinceReferenceDate: 800_000_000)
        return StoredItem(
            itemClass: .genericPassword, identifier: UUID(),
            attributes: [.service: .string("service"), .account: .string(account), .label: .string("label")],
            customAttributes: ["team": "shop"], accessGroup: "com.example.shop",
            accessControl: AccessControl(protection: protection), isSynchronizable: true, creationDate: now,
            modificationDate: now, value: value)
    }
}
