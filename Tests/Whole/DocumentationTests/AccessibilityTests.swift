import Foundation
import Keychain
import KeychainTesting
import TestSupport
import Testing

/// The table in Documentation/Use/Accessibility.md says what each class does, and the vault does it.
@Suite struct AccessibilityTests {
    private static let classes: [String: Keychain.Accessibility] = [
        "whenUnlocked": .whenUnlocked, "whenUnlockedThisDeviceOnly": .whenUnlockedThisDeviceOnly,
        "whenPasscodeSetThisDeviceOnly": .whenPasscodeSetThisDeviceOnly, "afterFirstUnlock": .afterFirstUnlock,
        "afterFirstUnlockThisDeviceOnly": .afterFirstUnlockThisDeviceOnly, "always": .always,
        "alwaysThisDeviceOnly": .alwaysThisDeviceOnly,
    ]

    @Test func theTableIsTrue() throws {
        let page = try Repository.text("Documentation/Use/Accessibility.md")
        var rows: [String: [String]] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.count == 6 { rows[String(cells[0].dropFirst().dropLast())] = Array(cells[1...3]) }
        }
        #expect(Set(rows.keys) == Set(Self.classes.keys))
        for (name, accessibility) in Self.classes {
            let found = try Self.readable(accessibility).map { $0 ? "yes" : "no" }
            #expect(rows[name] == found, "\(name)")
        }
    }

    /// Whether an item can be read and stored while the vault is unlocked, locked, and before the first unlock.
    private static func readable(_ accessibility: Keychain.Accessibility) throws -> [Bool] {
        try withTestKeychain { world in
            try world.setPasscode(present: true)
            let keychain = Keychain(service: "com.example", accessibility: accessibility)
            for account in ["item", "unlocked", "locked", "rebooted"] { try keychain.set("secret", for: account) }
            let states: [(account: String, enter: () -> Void)] = [
                ("unlocked", { world.unlock() }), ("locked", { world.lock() }), ("rebooted", { world.reboot() }),
            ]
            return states.map { state in
                state.enter()
                let isReadable = Self.succeeds { try keychain.get(String.self, for: "item") }
                let isStored = Self.succeeds { try keychain.set("secret", for: UUID().uuidString) }
                #expect(isReadable == isStored, "reading and storing \(accessibility)")
                // An item can be deleted while it is locked, and not before its class was open once.
                let isRemoved = Self.succeeds { try keychain.remove(state.account) }
                #expect(isRemoved == (isReadable || state.account == "locked"), "deleting \(accessibility)")
                return isReadable
            }
        }
    }

    private static func succeeds<Value>(_ body: () throws -> Value) -> Bool {
        do {
            _ = try body()
            return true
        } catch let error as KeychainError {
            #expect(error.code == .interactionNotAllowed)
            return false
        } catch {
            Issue.record(error)
            return false
        }
    }
}
