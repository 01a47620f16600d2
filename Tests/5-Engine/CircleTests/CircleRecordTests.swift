import Crypto
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import Circle

@Suite struct CircleRecordTests {
    private let circle: CircleUnderTest
    private let keys: [KeyClass: ViewKey] = [.whileUnlocked: ViewKey(), .afterFirstUnlock: ViewKey()]
    private let writer: RecordWriter
    private let place: CircleRecord.Place

    init() throws {
        circle = try CircleUnderTest()
        writer = try circle.writer(1)
        place = CircleRecord.Place(circle: circle.log.circle, view: .random(), name: .random())
    }

    private func record(
        _ body: RecordBody, at time: HybridTime = HybridTime(Date()), by writer: RecordWriter? = nil, author: UInt32 = 1
    ) throws -> CircleRecord {
        try CircleRecord(
            body.content, body, version: RecordVersion(time: time, member: author), at: place, generation: 0,
            .afterFirstUnlock, under: #require(keys[.afterFirstUnlock]), by: writer ?? self.writer)
    }

    private func body(_ item: StoredItem = ItemUnderTest.item()) -> RecordBody {
        RecordBody(ancestors: Ancestors(), subject: .item(item))
    }

    /// What a member does with what it finds at a place.
    private func taken(_ encoded: Data, at place: CircleRecord.Place, by writer: RecordWriter? = nil) throws
        -> RecordBody
    {
        let record = try CircleRecord(decoding: encoded)
        try record.check(at: place, by: RecordChecker((writer ?? self.writer).certificate))
        return try record.open(at: place, under: #require(keys[record.keyClass]))
    }

    @Test(arguments: [0, 1, 100, 5_000, 400_000]) func comesBackAsItWas(size: Int) throws {
        var item = ItemUnderTest.item(value: size == 0 ? nil : Data.random(size))
        item.expiry = .at(item.creationDate.addingTimeInterval(1_000))
        item.kept = .atMost(7)
        let sent = body(item)
        let encoded = try record(sent).encoded
        #expect(try taken(encoded, at: place) == sent)
        // At most 12 % of what is there, and less than 128 bytes in what is short.
        #expect(encoded.count <= max(size * 112 / 100, 0) + 700)
    }

    @Test func aShortSecretIsShort() throws {
        #expect(try record(body(ItemUnderTest.item(value: Data(count: 60)))).encoded.count == 380)
    }

    /// Sizes tell little: values of 1 to 40 bytes take the same.
    @Test func sizesAreFew() throws {
        let sizes = try Set((1...40).map { try record(body(ItemUnderTest.item(value: Data(count: $0)))).encoded.count })
        #expect(sizes.count <= 2)
        let padded = Set((4_097...500_000).map(RecordBody.paddedSize))
        #expect(padded.count < 200)
        for size in [1, 127, 128, 129, 4_096, 4_097, 70_000, 499_999] {
            let padded = RecordBody.paddedSize(size)
            #expect(padded >= size && Double(padded) <= max(Double(size) * 1.12, Double(size) + 127))
        }
    }

    /// A store changes, cuts, moves and mixes records. No vault takes any of them.
    @Test func nothingChangedIsTaken() throws {
        var random = SeededGenerator()
        let records = try (0..<8).map { try record(body(ItemUnderTest.item(account: "\($0)"))).encoded }
        for round in 0..<TestScale.count(1_000, soak: 100_000) {
            let original = records[Int.random(in: 0..<records.count, using: &random)]
            var (changed, place) = (original, place)
            switch round % 6 {
            case 0:
                changed[Int.random(in: 0..<changed.count, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            case 1: changed.removeLast(Int.random(in: 1...changed.count, using: &random))
            case 2: changed += Data([UInt8.random(in: 0...255, using: &random)])
            case 3:
                // The head of one with the rest of another.
                let other = try #require(records.randomElement(using: &random))
                let cut = Int.random(in: 1..<min(other.count, changed.count), using: &random)
                changed = changed.prefix(cut) + other.dropFirst(cut)
            case 4: place.name = .random()
            default: if round % 12 == 5 { place.view = .random() } else { place.circle = .random() }
            }
            guard changed != original || place != self.place else { continue }
            if round % 6 == 3, records.contains(changed) { continue }
            #expect(throws: CircleError.self) { try taken(changed, at: place) }
        }
    }

    /// Nobody writes in the name of somebody else, or with a certificate for another time.
    @Test func theSealerIsWhoItSays() throws {
        var circle = circle
        let number = try circle.admit()
        let other = try circle.writer(number)
        let first = try record(body())
        #expect(throws: CircleError.forged("record")) { try taken(first.encoded, at: place, by: other) }
        // A member may seal anew what another one wrote, and then says so.
        let resealed = try record(body(), by: other, author: 1)
        #expect(resealed.sealer == number && resealed.version.member == 1)
        #expect(try taken(resealed.encoded, at: place, by: other) == body(try item(in: resealed, by: other)))
        let ended = try circle.writer(1, serial: 2, until: HybridTime(rawValue: 1_000))
        let late = try record(body(), by: ended)
        #expect(throws: CircleError.forged("record")) { try taken(late.encoded, at: place, by: ended) }
    }

    private func item(in record: CircleRecord, by writer: RecordWriter) throws -> StoredItem {
        guard case .item(let item) = try taken(record.encoded, at: place, by: writer).subject else {
            throw CircleError.malformed("item")
        }
        return item
    }

    @Test func whatStaysOnTheDeviceDoesNotTravel() throws {
        var items = [ItemUnderTest.item(protection: .afterFirstUnlockThisDeviceOnly), ItemUnderTest.item()]
        items[1].isSynchronizable = false
        items.append(ItemUnderTest.item())
        items[2].accessControl.flags = .userPresence
        items.append(ItemUnderTest.item())
        items[3].attributes[.tokenID] = .string("com.apple.setoken")
        for item in items {
            #expect(!ItemPayload.travels(item))
            #expect(throws: CircleError.self) { try record(body(item)) }
        }
        #expect(throws: CircleError.self) { try record(body(ItemUnderTest.item(value: Data(count: 600 << 10)))) }
    }

    /// A far time is refused, so that every version has a successor.
    @Test func noVersionIsTheLast() throws {
        let far = try record(body(), at: .latest)
        #expect(throws: CircleError.forged("record")) { try taken(far.encoded, at: place) }
        var clock = CircleClock(last: .zero)
        let before = HybridTime(rawValue: HybridTime.latest.rawValue - 1)
        #expect(clock.next(after: before, now: Date()) == .latest)
        #expect(clock.last < HybridTime(Date().addingTimeInterval(1)))
    }

    @Test func clocksGoOn() {
        let now = Date()
        var clock = CircleClock(last: .zero)
        let first = clock.next(now: now)
        #expect(first == HybridTime(now))
        // The clock of the machine was set back.
        let second = clock.next(now: now.addingTimeInterval(-7_200))
        #expect(second > first)
        clock.see(HybridTime(now.addingTimeInterval(60)), now: now)
        #expect(clock.next(now: now) > HybridTime(now.addingTimeInterval(60)))
        // A member in the year 2100 raises what it changes, and nothing else.
        let wrong = HybridTime(Date(timeIntervalSince1970: 4_102_444_800))
        clock.see(wrong, now: now)
        #expect(clock.last < wrong)
        #expect(clock.next(after: wrong, now: now) > wrong)
        #expect(clock.next(now: now) < wrong)
    }

    @Test func ancestorsTellConflicts() {
        var ancestors = Ancestors()
        ancestors.insert(RecordVersion(time: HybridTime(rawValue: 5), member: 1))
        #expect(ancestors.contains(RecordVersion(time: HybridTime(rawValue: 4), member: 1)))
        #expect(!ancestors.contains(RecordVersion(time: HybridTime(rawValue: 6), member: 1)))
        #expect(!ancestors.contains(RecordVersion(time: HybridTime(rawValue: 1), member: 2)))
        for member in 2..<UInt32(50) {
            ancestors.insert(RecordVersion(time: HybridTime(rawValue: UInt64(member)), member: member))
        }
        #expect(ancestors.times.count == Ancestors.most)
        #expect(ancestors.contains(RecordVersion(time: HybridTime(rawValue: 49), member: 49)))
    }

    private func head() throws -> MemberHead {
        try MemberHead(
            MemberHead.Body(
                time: HybridTime(Date()), entry: 0, digest: circle.log.head, carrier: "folder",
                statement: Data.random(96)),
            in: place.circle, member: 1, sequence: 3, under: circle.key, signedBy: #require(circle.members[1]).sign)
    }

    /// A head that somebody changes, or that another member or another circle made, is refused.
    @Test func noHeadIsForged() throws {
        let encoded = try head().encoded
        let keys = try #require(circle.members[1]).keys()
        func isTaken(_ encoded: Data, _ keys: MemberKeys, _ key: CircleKey) -> Bool {
            do {
                let head = try MemberHead(decoding: encoded)
                try head.check(signedBy: keys)
                return try head.open(under: key).carrier == "folder"
            } catch {
                return false
            }
        }
        #expect(isTaken(encoded, keys, circle.key))
        for place in encoded.indices {
            var changed = encoded
            changed[place] ^= 1
            #expect(!isTaken(changed, keys, circle.key), "at \(place)")
            #expect(!isTaken(encoded.prefix(place), keys, circle.key))
        }
        #expect(!isTaken(encoded + [0], keys, circle.key))
        #expect(try !isTaken(encoded, MemberUnderTest().keys(), circle.key))
        #expect(!isTaken(encoded, keys, CircleKey()))
    }

    /// Any bytes behind a right signature and a right seal are an item, or refused.
    @Test func fuzzCircleBodies() throws {
        let samples = try [
            body(),
            RecordBody(
                ancestors: Ancestors([1: .zero]),
                subject: .tombstone(
                    ItemTombstone(itemClass: .key, identifier: UUID(), deleted: Date(), primaryKey: [1, 2]))),
        ].map { try $0.padded }
        for content in [CircleRecord.Content.item, .tombstone] {
            var run = FuzzRun("circle-body", samples: samples, plain: 3_000, soak: 1_000_000)
            try run.run { input in
                guard let body = try? RecordBody(decodingPadded: input, content) else { return false }
                guard let again = try? body.padded else { return false }
                // A date that no vault can store is read as the nearest one.
                if try RecordBody(decodingPadded: again, content) != body { throw FuzzFinding("a body changes") }
                return true
            }
        }
    }

    @Test func fuzzCircle() throws {
        let item = try record(body()).encoded
        let member = try #require(circle.members[1])
        let delivery = try KeyDelivery(
            SymmetricKey(size: .bits256), of: place.view, generation: 0, in: place.circle, to: 1, .whileUnlocked,
            member.keys()
        ).encoded
        let request = try JoinRequest(
            JoinRequest.Body(keys: member.keys(), name: "n"), in: place.circle, using: Invitation(), pin: circle.log.pin
        )
        let head = try head().encoded
        var circle = circle
        let recovery = try CircleRecovery(secret: SymmetricKey(size: .bits256), in: circle.log.circle)
        try circle.append(.invite(circle.offer(Invitation(), flags: .needsNoPerson)))
        try circle.append(.recoveryKey(recovery.keys))
        try circle.append(.minimum(formats: 1, version: "1"))
        try circle.recover(with: recovery)
        let later = try circle.entry(.unknown(type: 99, Data([1, 2, 3])))
        let terms = InvitationTerms(groups: ["a", "group"], attesters: [Data(repeating: 7, count: 34)]).encoded
        var run = FuzzRun(
            "circle",
            samples: [item, delivery, request.encoded, writer.certificate.encoded, head, later, terms] + circle.entries,
            plain: 5_000, soak: 1_000_000)
        try run.run { input in
            var taken = false
            func read<Form>(_ form: Form?, _ encoded: (Form) -> Data) throws {
                guard let form else { return }
                taken = true
                if encoded(form) != input { throw FuzzFinding("\(Form.self) has two forms") }
            }
            try read(try? CircleRecord(decoding: input)) { $0.encoded }
            try read(try? KeyDelivery(decoding: input)) { $0.encoded }
            try read(try? JoinRequest(decoding: input)) { $0.encoded }
            try read(try? WriterCertificate(decoding: input)) { $0.encoded }
            try read(try? ViewEntry(decoding: input)) { $0.encoded }
            try read(try? MembershipEntry(decoding: input)) { $0.encoded }
            try read(try? MemberHead(decoding: input)) { $0.encoded }
            if let entry = try? MembershipEntry(decoding: input) {
                let again = try MembershipEntry(
                    entry.body, in: entry.circle, number: entry.number, previous: entry.previous, time: entry.time,
                    signer: entry.signer, signedBy: { _ in input.suffix(64) })
                if again.encoded != input { throw FuzzFinding("an entry has two forms") }
            }
            try read(try? InvitationTerms(decoding: input)) { $0.encoded }
            return taken
        }
    }
}
