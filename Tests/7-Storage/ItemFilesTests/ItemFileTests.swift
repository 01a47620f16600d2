import Bytes
import Certificates
import Crypto
import Foundation
import Frames
import KeychainModel
import PasswordFiles
import TestSupport
import Testing
import VaultInterface
import VaultKeys

@testable import ItemFiles

/// Files of items: what goes in comes out, for whom it is meant and for nobody else.
@Suite struct ItemFileTests {
    private static func isDamage(_ error: ItemFileError) -> Bool {
        switch error {
        case .unreadable, .damaged, .undecipherable, .wrongPassphrase, .passphraseNeeded, .keyNeeded: true
        default: false
        }
    }

    @Test func itemsComeBackAsTheyWere() throws {
        var random = RandomItems()
        let key = try Seals.key()
        for count in [1, 2, 40] {
            let items = random.items(count)
            let phrase = try Seals.passphrase()
            #expect(try ItemFile(ItemFile.seal(items, under: phrase)).items(openedWith: phrase) == items)
            #expect(try ItemFile(ItemFile.seal(items, to: key.recipient)).items(openedWith: key.key) == items)
        }
    }

    @Test func nobodyElseOpensAFile() throws {
        var random = RandomItems()
        let items = random.items(3)
        let (mine, other) = (try Seals.key(), try Seals.key())
        let toMe = try ItemFile(ItemFile.seal(items, to: mine.recipient))
        #expect(toMe.keyLabel == mine.recipient.label)
        #expect(throws: ItemFileError.undecipherable) { try toMe.items(openedWith: other.key) }
        #expect(throws: ItemFileError.passphraseNeeded) {
            try ItemFile(ItemFile.seal(items, under: Seals.passphrase())).items(openedWith: mine.key)
        }
        let phrase = try ItemFile(ItemFile.seal(items, under: Seals.passphrase()))
        #expect(phrase.keyLabel == nil)
        #expect(throws: ItemFileError.wrongPassphrase) { try phrase.items(openedWith: Seals.passphrase("another")) }
        #expect(throws: ItemFileError.keyNeeded) { try toMe.items(openedWith: Seals.passphrase()) }
        #expect(throws: ItemFileError.self) { try Seals.passphrase("") }
    }

    @Test func twoFilesOfTheSameItemsHaveNothingInCommon() throws {
        var random = RandomItems()
        let items = random.items(2)
        let phrase = try Seals.passphrase()
        let files = try (0..<2).map { _ in try ItemFile.seal(items, under: phrase) }
        #expect(files[0].dropFirst(97) != files[1].dropFirst(97) && files[0][11..<27] != files[1][11..<27])
    }

    /// The first bit of each byte, and the last. In the head of a file under a passphrase a bit can ask for a try that
    /// takes a gigabyte and ten seconds, which is no damage: the last bits of the numbers are left alone.
    @Test func everyChangedByteIsRefused() throws {
        var random = RandomItems()
        let items = random.items(1)
        let key = try Seals.key()
        let sealed = try ItemFile.seal(items, to: key.recipient)
        for place in sealed.indices {
            for bit: UInt8 in [0x80, 0x01] {
                var changed = sealed
                changed[place] ^= bit
                let error = #expect(throws: ItemFileError.self, "\(place) \(bit)") {
                    try ItemFile(changed).items(openedWith: key.key)
                }
                #expect(error.map(Self.isDamage) == true, "\(place) \(bit) \(String(describing: error))")
            }
        }
        let phrase = try Seals.passphrase()
        let under = try ItemFile.seal(items, under: phrase)
        for place in under.indices {
            var changed = under
            changed[place] ^= 0x80
            let error = #expect(throws: ItemFileError.self, "\(place)") {
                try ItemFile(changed).items(openedWith: phrase)
            }
            #expect(error.map(Self.isDamage) == true, "\(place) \(String(describing: error))")
        }
    }

    @Test func everyTruncatedFileAndEveryAddedByteIsRefused() throws {
        var random = RandomItems()
        let key = try Seals.key()
        let phrase = try Seals.passphrase()
        let items = [random.item()]
        let (sealed, under) = (try ItemFile.seal(items, to: key.recipient), try ItemFile.seal(items, under: phrase))
        for count in 0..<sealed.count {
            #expect(throws: ItemFileError.self) { try ItemFile(sealed.prefix(count)).items(openedWith: key.key) }
        }
        for count in 0..<under.count {
            #expect(throws: ItemFileError.self) { try ItemFile(under.prefix(count)).items(openedWith: phrase) }
        }
        #expect(throws: ItemFileError.undecipherable) { try ItemFile(sealed + [0]).items(openedWith: key.key) }
        #expect(throws: ItemFileError.self) { try ItemFile(under + under).items(openedWith: phrase) }
    }

    @Test func itemsThatStayOnTheirDeviceAreNotSealed() throws {
        let phrase = try Seals.passphrase()
        var random = RandomItems()
        for protection in ProtectionClass.allCases {
            var item = random.item()
            item.accessControl.protection = protection
            let isRefused = protection.rawValue.hasSuffix("u")
            #expect(protection.isThisDeviceOnly == isRefused)
            do {
                _ = try ItemFile.seal([random.item(), item], under: phrase)
                #expect(!isRefused)
            } catch {
                guard case .bound = error else { throw error }
                #expect(isRefused)
            }
        }
        var token = random.item()
        token.attributes[.tokenID] = .string(EnclaveKeyRecord.tokenID)
        var trace = random.item()
        trace.isTombstone = true
        var identity = random.item()
        identity.identityKey = StoredItem.IdentityKey(identifier: UUID(), attributes: [:], value: nil)
        for item in [token, trace, identity] {
            let error = #expect(throws: ItemFileError.self) { try ItemFile.seal([item], under: phrase) }
            guard case .bound = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func aFileHoldsAThousandItemsAndThirtyTwoMebibytes() throws {
        var random = RandomItems()
        let key = try Seals.key()
        let items = (0..<ReceiveItems.most).map { _ in
            var item = random.item()
            item.value = nil
            return item
        }
        #expect(try ItemFile(ItemFile.seal(items, to: key.recipient)).items(openedWith: key.key).count == 1_000)
        let tooMany = ItemFileError.tooLarge(limit: ItemFile.largestContents)
        #expect(throws: tooMany) { try ItemFile.seal(items + [random.item()], to: key.recipient) }
        var large = random.item()
        large.value = Data(count: 16 << 20)
        #expect(throws: tooMany) { try ItemFile.seal([large, large], to: key.recipient) }
        let file = try ItemFile.seal([large], to: key.recipient)
        #expect(try ItemFile(file).items(openedWith: key.key).first?.value?.count == 16 << 20)
        #expect(throws: tooMany) { try ItemFile(file + Data(count: 17 << 20)) }
        #expect(throws: ItemFileError.self) { try ItemFile.seal([], to: key.recipient) }
    }

    /// A file cannot have its passphrase tried at any cost: what is too much is refused before any work is done.
    @Test func aFileCannotAskForMoreThanItIs() throws {
        var random = RandomItems()
        let phrase = try Seals.passphrase()
        let sealed = try ItemFile.seal([random.item()], under: phrase)
        for (memory, passes) in [(UInt32.max, UInt32(1)), (1 << 21, 1), (8, 65), (1 << 20, 17), (7, 1), (8, 0)] {
            var changed = sealed
            changed.replaceSubrange(29..<37, with: memory.bigEndianBytes + passes.bigEndianBytes)
            let error = #expect(throws: ItemFileError.self) { try ItemFile(changed).items(openedWith: phrase) }
            guard case .unreadable = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    /// What the tag does not keep out: whoever has the public key can write any contents.
    @Test func fuzzItems() throws {
        var random = RandomItems()
        let samples = try (0..<6).map { _ in
            try ItemRecords.bytes(of: random.items(1 + random.random.int(below: 3)))
        }
        var run = FuzzRun("items", samples: samples, plain: 4_000, soak: 2_000_000)
        let report = try run.run { input in
            let items: [StoredItem]
            do {
                items = try ItemRecords.decode(FrameBuffer(input))
            } catch {
                guard case .damaged = error as? ItemFileError else { throw FuzzFinding("\(error)") }
                return false
            }
            // There is one form of an item, and only what travels is read.
            guard try ItemRecords.bytes(of: items) == input else { throw FuzzFinding("two forms of an item") }
            return true
        }
        #expect(report.accepted >= samples.count || report.tried == 0)
    }

    @Test func contentsInAnotherOrderAreRefused() throws {
        func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            [number] + UInt32(truncatingIfNeeded: bytes.count).bigEndianBytes + bytes
        }
        let date = Double(8).bitPattern.bigEndianBytes
        let fields = [
            field(1, [1]), field(2, Array(0..<16)), field(3, [1]), field(5, [0]), field(6, date), field(7, date),
            field(9, Array("g".utf8)), field(10, Array("acct".utf8) + [1, 0x61]), field(10, Array("svce".utf8) + [1]),
            field(11, [1, 0x61, 0x62]), field(12, [7]), field(13, UInt64(1).bigEndianBytes),
        ]
        func decode(_ fields: [[UInt8]], count: UInt32 = 1) throws -> [StoredItem] {
            let item = UInt32(truncatingIfNeeded: fields.count).bigEndianBytes + fields.joined()
            return try ItemRecords.decode(FrameBuffer(count.bigEndianBytes + item))
        }
        #expect(try decode(fields).first?.value == Data([7]))
        for index in fields.indices {
            var missing = fields
            missing.remove(at: index)
            // Attributes, custom attributes and the value may be missing.
            if index < 7 || index == 11 { #expect(throws: ItemFileError.self, "\(index)") { try decode(missing) } }
            #expect(throws: ItemFileError.self, "\(index)") { try decode(fields + [fields[index]]) }
            if index > 0 {
                var swapped = fields
                swapped.swapAt(index, index - 1)
                #expect(throws: ItemFileError.self, "\(index)") { try decode(swapped) }
            }
        }
        let hostile: [(Int, [UInt8])] = [
            (0, field(1, [5])), (0, field(1, [9])), (2, field(3, [5])), (2, field(3, [4])), (3, field(5, [2])),
            (4, field(6, Double.nan.bitPattern.bigEndianBytes)), (6, field(9, [0xFF])), (6, field(9, [0x2A])),
            (10, field(13, [])), (10, [12, 0xFF, 0xFF, 0xFF, 0xFF]), (9, field(11, [0])), (9, field(11, [9, 0x61])),
            (11, field(13, UInt64(0).bigEndianBytes)), (11, field(13, UInt64(clamping: 1 << 62 + 1).bigEndianBytes)),
            (11, field(14, [0, 1])), (11, field(13, UInt64(1).bigEndianBytes) + field(14, [3, 0xE9])),
            (7, field(10, [0x61])), (7, field(10, Array("acct".utf8) + [9])), (1, field(2, [1])),
        ]
        for (index, part) in hostile {
            var changed = fields
            changed[index] = part
            #expect(throws: ItemFileError.self, "\(index) \(part)") { try decode(changed) }
        }
        #expect(throws: ItemFileError.self) { try decode(fields, count: 0) }
        #expect(throws: ItemFileError.self) { try decode(fields, count: 2) }
        #expect(throws: ItemFileError.self) { try decode(fields, count: .max) }
    }

    @Test func aRecipientIsAKeyOnP256() throws {
        let key = try Seals.key()
        #expect(try ItemRecipient(pem: key.pem.public).label == key.recipient.label)
        let other = P384.KeyAgreement.PrivateKey().publicKey.pemRepresentation
        for pem in ["", "no PEM", key.pem.private, other, Curve25519.KeyAgreement.PrivateKey().publicKey.description] {
            let error = #expect(throws: ItemFileError.self) { try ItemRecipient(pem: pem) }
            guard case .unsuitableRecipient = error else {
                Issue.record("\(pem) \(String(describing: error))")
                continue
            }
        }
    }
}

extension Curve25519.KeyAgreement.PublicKey {
    fileprivate var description: String { rawRepresentation.base64EncodedString() }
}
