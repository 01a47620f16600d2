import Bytes
import Certificates
import Crypto
import Foundation
import Frames
import KeychainModel
import PasswordFiles
import TestSupport
import VaultKeys

@testable import ItemFiles

/// Makes items of every class, with everything that an item can have.
struct RandomItems {
    private static let elsewhere: Set<AttributeName> = [
        .accessGroup, .accessible, .accessControl, .synchronizable, .tombstone, .creationDate, .modificationDate,
        .tokenID, .itemHash,
    ]

    var random = SeededGenerator()
    private var number = 0

    init() {}

    mutating func items(_ count: Int) -> [StoredItem] { (0..<count).map { _ in item() } }

    /// - Parameter group: The item's group; one of two unless given.
    mutating func item(group: String? = nil) -> StoredItem {
        number += 1
        let itemClass = ItemClass.stored[random.int(below: 4)]
        let flags: [AccessControl.Flags?] = [nil, nil, [], .userPresence, .devicePasscode, [.biometryAny, .or]]
        let control = AccessControl(
            protection: [.whenUnlocked, .afterFirstUnlock, .always][random.int(below: 3)],
            flags: flags[random.int(below: flags.count)])
        var item = StoredItem(
            itemClass: itemClass, identifier: UUID(), attributes: attributes(of: itemClass),
            customAttributes: custom(), accessGroup: group ?? ["TEAM.app", "größer"][random.int(below: 2)],
            accessControl: control, isSynchronizable: control.flags == nil && random.int(below: 2) == 0,
            creationDate: date(), modificationDate: date(),
            value: random.int(below: 8) == 0 ? nil : random.bytes([0, 1, 30, 5_000][random.int(below: 4)]))
        if random.int(below: 3) == 0 { item.expiry = .at(date()) }
        item.version = [1, 2, 7_000, 1 << 62][random.int(below: 4)]
        if random.int(below: 3) == 0 { item.kept = .atMost(random.int(below: 1_001)) }
        // A primary key of its own.
        let unique: [ItemClass: AttributeName] = [
            .genericPassword: .account, .internetPassword: .server, .certificate: .serialNumber,
            .key: .applicationLabel,
        ]
        if let name = unique[itemClass] { item.attributes[name] = .data(Data("\(number)".utf8)) }
        return item
    }

    private mutating func date() -> Date {
        Date(
            timeIntervalSinceReferenceDate: Double(random.int(below: 1 << 31)) + Double(random.int(below: 999)) / 1_000)
    }

    private mutating func text() -> String {
        let letters = Array("aä0 \u{1F511}e\u{301}\n\0")
        return String((0..<random.int(below: 12)).map { _ in letters[random.int(below: letters.count)] })
    }

    private mutating func attributes(of itemClass: ItemClass) -> ItemAttributes {
        var attributes: ItemAttributes = [:]
        for name in itemClass.schema.names.sorted()
        where random.int(below: 3) == 0 && !Self.elsewhere.contains(name) {
            guard let kind = itemClass.schema[name]?.kind else { continue }
            let value: AttributeValue? =
                switch kind {
                case .blob: [.string(text()), .data(random.bytes(9)), .number(-5)][random.int(below: 3)]
                case .data: .data(random.bytes(random.int(below: 40)))
                case .string: .string(text())
                case .number:
                    [.number(Int64(bitPattern: random.next())), .real(1.5), .string("htps")][random.int(below: 3)]
                case .date: .date(date())
                case .accessible, .accessControl: nil
                }
            attributes[name] = value
        }
        return attributes
    }

    private mutating func custom() -> CustomAttributes {
        var custom: CustomAttributes = [:]
        for _ in 0..<random.int(below: 4) { custom["n\(random.int(below: 99)) " + text()] = text() }
        return custom
    }
}

extension ItemRecords {
    /// The contents of a file with these items.
    static func bytes(of items: [StoredItem]) throws -> Data {
        let buffer = try encode(items)
        return withExtendedLifetime(buffer) { Data(buffer.bytes) }
    }
}

/// What seals and opens files in tests, at the least cost.
enum Seals {
    static func passphrase(_ text: String = "correct horse") throws -> PasswordFileKeys {
        try ItemFile.keys(under: SecretBytes(text), cost: .argon2id(memoryKiB: 8, passes: 1))
    }

    /// A key on P-256, and the recipient that it is.
    static func key() throws -> (key: ItemFileKey, recipient: ItemRecipient, pem: (public: String, private: String)) {
        let made = P256.KeyAgreement.PrivateKey(compactRepresentable: false)
        let data = try KeyData(made.x963Representation, type: .ellipticCurve, keyClass: .private)
        return (
            try ItemFileKey(VaultKey(data)), try ItemRecipient(data),
            (made.publicKey.pemRepresentation, made.pemRepresentation)
        )
    }
}
