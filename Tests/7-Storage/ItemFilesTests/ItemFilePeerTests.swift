import Bytes
import Certificates
import Foundation
import KeychainModel
import TestSupport
import Testing
import VaultKeys

@testable import ItemFiles

/// Files go back and forth between this package and `Tests/Support/Vectors/item-file.py`, which was written from the
/// description of the format and of RFC 9180.
@Suite struct ItemFilePeerTests {
    private static let peer = Result {
        try PythonPeer(
            Repository.file("Tests/Support/Vectors/item-file.py").path)
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ bytes: Data, _ name: String) throws -> String {
        let path = folder.path(of: name)
        try bytes.write(to: URL(fileURLWithPath: path))
        return path
    }

    /// An item in the form of the other implementation.
    private struct PrintedItem: Codable, Equatable {
        var itemClass: String
        var identifier: String
        var protection: String
        var accessControlFlags: UInt64?
        var synchronizable: Bool
        var created: Double
        var modified: Double
        var expires: Double?
        var group: String
        var attributes: [String: Printed]
        var custom: [String: String]
        var value: String?
        var version: Int64
        var kept: Int?

        private enum CodingKeys: String, CodingKey {
            case itemClass = "class"
            case identifier, protection, accessControlFlags, synchronizable, created, modified, expires, group
            case attributes, custom, value, version, kept
        }

        struct Printed: Codable, Equatable {
            var string: String?
            var data: String?
            var number: Int64?
            var real: Double?
            var date: Double?

            init(_ value: AttributeValue) {
                switch value {
                case .string(let text): string = text
                case .data(let bytes): data = bytes.hexadecimal()
                case .number(let integer): number = integer
                case .real(let double): real = double
                case .date(let moment): date = moment.timeIntervalSinceReferenceDate
                }
            }
        }

        init(_ item: StoredItem) {
            itemClass = item.itemClass.rawValue
            identifier = item.identifier.uuidString
            protection = item.accessControl.protection.rawValue
            accessControlFlags = item.accessControl.flags?.rawValue
            synchronizable = item.isSynchronizable
            created = item.creationDate.timeIntervalSinceReferenceDate
            modified = item.modificationDate.timeIntervalSinceReferenceDate
            expires = item.expiry.date?.timeIntervalSinceReferenceDate
            group = item.accessGroup
            attributes = Dictionary(uniqueKeysWithValues: item.attributes.map { ($0.key.string, Printed($0.value)) })
            custom = item.customAttributes
            value = item.value.map { $0.hexadecimal() }
            version = item.version
            kept = item.kept.count
        }
    }

    private static func passphrase(_ folder: ItemFilePeerTests) throws -> String {
        try folder.write(Data("correct horse".utf8), "passphrase")
    }

    @Test func theOtherImplementationReadsWhatThisOneWrites() throws {
        var random = RandomItems()
        let items = random.items(TestScale.count(30, soak: 900))
        let key = try Seals.key()
        let pem = try write(Data(key.pem.private.utf8), "key")
        let printed = items.map(PrintedItem.init)
        var file = try write(ItemFile.seal(items, to: key.recipient), "to-key")
        var answer = try Self.peer.get().ask(["read", "--key", pem, file])
        #expect(try JSONDecoder().decode([PrintedItem].self, from: Data(answer.utf8)) == printed)
        file = try write(ItemFile.seal(items, under: Seals.passphrase()), "under-passphrase")
        answer = try Self.peer.get().ask(["read", "--passphrase", Self.passphrase(self), file])
        #expect(try JSONDecoder().decode([PrintedItem].self, from: Data(answer.utf8)) == printed)
    }

    @Test func thisImplementationReadsWhatTheOtherWrites() throws {
        var random = RandomItems()
        let items = random.items(TestScale.count(30, soak: 900))
        let list = try write(JSONEncoder().encode(items.map(PrintedItem.init)), "items")
        let key = try Seals.key()
        let pem = try write(Data(key.pem.public.utf8), "recipient")
        let file = folder.path(of: "file")
        _ = try Self.peer.get().ask(["write", "--to", pem, list, file])
        let toKey = try ItemFile(Data(contentsOf: URL(fileURLWithPath: file)))
        #expect(try toKey.items(openedWith: key.key) == items)
        _ = try Self.peer.get().ask(["write", "--passphrase", Self.passphrase(self), list, file])
        let under = try ItemFile(Data(contentsOf: URL(fileURLWithPath: file)))
        #expect(try under.items(openedWith: Seals.passphrase()) == items)
    }

    @Test func theOtherImplementationAgreesWithRFC9180() throws {
        #expect(try Self.peer.get().ask(["rfc9180"]) == "ok\n")
    }

    /// The vectors on the page, made by the other implementation. The recipient's key is that of RFC 9180.
    @Test func thePublishedVectorsAreRead() throws {
        let lines = try Self.peer.get().ask(["vectors"]).split(separator: "\n").map { $0.split(separator: " ") }
        let vectors = Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), String($0[1])) })
        let page = try Repository.text("Documentation/Specify/Formats/ItemFiles.md")
        let digits = page.filter { !$0.isWhitespace }
        for (name, vector) in vectors {
            let isThere = digits.contains(name + vector)
            #expect(isThere, "\(name) is not on the page")
        }

        func bytes(_ name: String) throws -> Data {
            let digits = try #require(vectors[name])
            return Data(try #require([UInt8](hexadecimal: digits.utf8)))
        }
        var item = StoredItem(
            itemClass: .genericPassword,
            identifier: try #require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F")),
            attributes: [.account: .string("ada"), .service: .string("mail")], customAttributes: ["stage": "test"],
            accessGroup: "com.example.mail",
            accessControl: AccessControl(protection: .whenUnlocked, flags: .userPresence), isSynchronizable: false,
            creationDate: Date(timeIntervalSinceReferenceDate: 800_000_000.5),
            modificationDate: Date(timeIntervalSinceReferenceDate: 800_000_001), value: Data("hunter2".utf8))
        item.expiry = .at(Date(timeIntervalSinceReferenceDate: 900_000_000))
        (item.version, item.kept) = (7, .atMost(5))
        #expect(try ItemRecords.bytes(of: [item]) == bytes("contents"))
        let secret = Data(
            try #require(
                [UInt8](hexadecimal: "317f915db7bc629c48fe765587897e01e282d3e8445f79f27f65d031a88082b2".utf8)))
        let point = Data(
            try #require(
                [UInt8](
                    hexadecimal: ("04abc7e49a4c6b3566d77d0304addc6ed0e98512ffccf505e6a8e3eb25c685136f85314854"
                        + "4876de76c0f2ef99cdc3a05ccf5ded7860c7c021238f9e2073d2356c").utf8)))
        let key = try KeyData(point + secret, type: .ellipticCurve, keyClass: .private)
        #expect(try ItemFile(bytes("key")).items(openedWith: ItemFileKey(VaultKey(key))) == [item])
        let phrase = try ItemFile.keys(under: SecretBytes("correct horse battery staple"))
        #expect(try ItemFile(bytes("passphrase")).items(openedWith: phrase) == [item])
    }
}
