import Access
import Bytes
import Foundation
import KeychainModel
import VaultInterface

/// The items of the example vault in `Tests/5-Engine/VaultTests/Fixtures`: every class, protection class and type of
/// attribute, the empty and the missing value, and the results of updates and deletions.
package enum FixtureItems {
    package static let client = Client(identifier: "fixture", accessGroups: ["TEAM.fixture", "TEAM.shared"])

    package static let all: [NewItem] = passwords + internetPasswords + keys + certificates

    private static let passwords: [NewItem] =
        ProtectionClass.allCases
        .filter { $0 != .whenPasscodeSetThisDeviceOnly }
        .map { protection in
            NewItem(
                itemClass: .genericPassword,
                attributes: [
                    .service: .string("protected"), .account: .string(protection.rawValue),
                    .label: .string("größer · 鍵 · 🔑"),
                ], accessControl: AccessControl(protection: protection),
                value: Data("secret of \(protection.rawValue)".utf8))
        } + [
            NewItem(
                itemClass: .genericPassword,
                attributes: [
                    .service: .data(Data([0, 1, 0xFE, 0xFF])), .account: .number(-2), .label: .real(0.1),
                    .generic: .date(Date(timeIntervalSinceReferenceDate: 700_000_000.5)), .type: .number(1 << 40),
                    .comment: .string(""),
                ], accessGroup: "TEAM.shared", value: Data((0...255).map { UInt8(truncatingIfNeeded: $0) })),
            NewItem(itemClass: .genericPassword, attributes: [.account: .string("no value")]),
            NewItem(itemClass: .genericPassword, attributes: [.account: .string("empty value")], value: Data()),
            NewItem(
                itemClass: .genericPassword, attributes: [.account: .string("controlled")],
                accessControl: AccessControl(protection: .whenUnlocked, flags: .privateKeyUsage),
                value: Data("controlled".utf8)),
            NewItem(
                itemClass: .genericPassword, attributes: [.account: .string("synchronizable")],
                isSynchronizable: true, value: Data("shared".utf8)),
            NewItem(
                itemClass: .genericPassword, attributes: [.account: .string("deleted everywhere")],
                isSynchronizable: true, value: Data("gone".utf8)),
            NewItem(
                itemClass: .genericPassword, attributes: [.account: .string("changed")], value: Data("before".utf8)),
            NewItem(itemClass: .genericPassword, attributes: [.account: .string("deleted")], value: Data("gone".utf8)),
        ]

    private static let internetPasswords: [NewItem] = [
        NewItem(
            itemClass: .internetPassword,
            attributes: [
                .server: .string("example.com"), .account: .string("alice"), .port: .number(443),
                .networkProtocol: .number(0x6874_7073), .path: .string("/"), .authenticationType: .string("dflt"),
            ], value: Data("hunter2".utf8))
    ]

    private static let keys: [NewItem] = [
        NewItem(
            itemClass: .key,
            attributes: [
                .keyClass: .number(1), .type: .number(73), .applicationTag: .data(Data("tag".utf8)),
                .applicationLabel: .data(Data(repeating: 0xAB, count: 20)), .isPrivate: .number(1),
                "bsiz": .number(256), "esiz": .number(256),
            ], value: Data(repeating: 4, count: 97))
    ]

    private static let certificates: [NewItem] = [
        NewItem(
            itemClass: .certificate,
            attributes: [
                .issuer: .data(Data("issuer".utf8)), .serialNumber: .data(Data([1, 2, 3])),
                .publicKeyHash: .data(Data(repeating: 0xAB, count: 20)), .label: .string("leaf"),
            ], value: Data(repeating: 0x30, count: 300))
    ]

    package static let applicationPassword = "größeres 🔑"
    package static let enrolment = Data("right index, left thumb".utf8)

    /// Returns items that need more than a class key to open.
    package static func guarded() throws -> [NewItem] {
        let controls: [(String, AccessControl.Flags)] = [
            ("password", .applicationPassword), ("enrolment", .biometryCurrentSet),
            ("both", [.applicationPassword, .biometryCurrentSet, .and, .devicePasscode]),
            ("either", [.biometryCurrentSet, .or, .devicePasscode]), ("presence", .userPresence),
        ]
        var items = controls.map { account, flags in
            NewItem(
                itemClass: .genericPassword, attributes: [.account: .string(account)],
                accessControl: AccessControl(protection: .afterFirstUnlock, flags: flags),
                value: Data("guarded by \(account)".utf8))
        }
        items.append(
            NewItem(
                itemClass: .internetPassword, attributes: [.server: .string("no value")],
                accessControl: AccessControl(protection: .whenUnlocked, flags: .applicationPassword)))
        for index in items.indices {
            items[index].authentication.applicationPassword = try SecretBytes(applicationPassword)
        }
        return items
    }

    /// Updates one item and deletes two. One of these leaves a tombstone.
    package static func change(_ vault: any Vault) throws {
        func query(_ account: String) -> ItemQuery {
            ItemQuery(
                itemClass: .genericPassword, attributes: [.account: .string(account)], synchronizable: .any)
        }
        _ = try vault.update(
            query("changed"),
            with: ItemChanges(attributes: [.label: .string("new label")], value: Data("after".utf8)), as: client)
        _ = try vault.delete(query("deleted"), as: client)
        _ = try vault.delete(query("deleted everywhere"), as: client)
    }
}

extension StoredItem {
    /// The account of a password; empty without one.
    package var accountName: String {
        guard case .string(let account)? = attributes[.account] else { return "" }
        return account
    }
}
