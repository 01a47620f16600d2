import Access
import Bytes
import Foundation
import Keybag
import KeychainModel
import Synchronization
import TestSupport
import Testing
import Vault
import VaultInterface

/// A passcode over the life of a vault in a folder.
@Suite struct PasscodeTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "vault")
    }

    private static let perClass: [(ProtectionClass, String)] = ProtectionClass.allCases.map { ($0, $0.rawValue) }

    private func fill(_ vault: EmbeddedVault) throws {
        for (protection, account) in Self.perClass {
            var item = NewItem.password("s", account, "value of \(account)")
            item.accessControl = AccessControl(protection: protection)
            _ = try vault.add(item, as: .app)
        }
    }

    /// The accounts whose values can be read, and those that are there and locked.
    private func readable(_ vault: EmbeddedVault) throws -> (read: Set<String>, locked: Set<String>) {
        var read: Set<String> = []
        var locked: Set<String> = []
        for (_, account) in Self.perClass {
            do throws(VaultError) {
                let found = try vault.copy(.password("s", account), includingValues: true, as: .app)
                if found.first?.value == Data("value of \(account)".utf8) { read.insert(account) }
            } catch {
                if case .interactionNotAllowed = error { locked.insert(account) }
            }
        }
        return (read, locked)
    }

    private func condition(_ vault: EmbeddedVault) throws -> VaultCondition {
        try vault.perform(ReadCondition(), as: .owner)
    }

    /// What was chosen for a passcode holds for the one that takes its place, unless something else is chosen.
    @Test func aChangedPasscodeKeepsWhatWasChosen() throws {
        let vault = try EmbeddedVault.open(at: path)
        #expect(try condition(vault) == VaultCondition())
        let chosen = PasscodeOptions(cost: .explicit(memoryMiB: 2, passes: 3), eraseAfter: 10)
        try vault.setPasscode(.test("1"), options: chosen, as: .owner)
        let kept = VaultCondition(cost: Argon2Cost(memoryKiB: 2_048, passes: 3), eraseAfter: 10)
        #expect(try condition(vault) == kept)
        try vault.changePasscode(from: .test("1"), to: .test("2"), options: PasscodeOptions(), as: .owner)
        #expect(try condition(vault) == kept)
        let renewal = RenewKeys(passcode: try .test("2"), next: try .test("3"), options: PasscodeOptions())
        _ = try vault.perform(renewal, as: .owner) { _ in }
        #expect(try condition(vault) == kept)
        try vault.changePasscode(from: .test("3"), to: .test("4"), options: .cheapest, as: .owner)
        #expect(try condition(vault) == VaultCondition(cost: Argon2Cost(memoryKiB: 1_024, passes: 1), eraseAfter: 10))
        try vault.changePasscode(
            from: .test("4"), to: .test("5"), options: PasscodeOptions(eraseAfter: 0), as: .owner)
        #expect(try condition(vault) == VaultCondition(cost: Argon2Cost(memoryKiB: 1_024, passes: 1)))
        // More passes than this machine would take are kept, too.
        let slow = PasscodeOptions(cost: .explicit(memoryMiB: 256, passes: 9))
        try vault.changePasscode(from: .test("5"), to: .test("6"), options: slow, as: .owner)
        try vault.changePasscode(from: .test("6"), to: .test("7"), options: PasscodeOptions(), as: .owner)
        let cost = try #require(try condition(vault).cost)
        #expect(cost.memoryKiB == 256 << 10 && cost.passes >= 9)
        #expect(throws: VaultError.self) {
            try vault.changePasscode(
                from: .test("7"), to: .test("8"), options: PasscodeOptions(eraseAfter: 256), as: .owner)
        }
    }

    @Test func classesMeanWhatTheirNamesSay() throws {
        let all = Set(Self.perClass.map(\.1))
        let always: Set = ["dk", "dku"]
        let afterFirst: Set = ["ck", "cku"]
        do {
            let vault = try EmbeddedVault.open(at: path)
            try vault.setPasscode(.test("123456"), options: .cheapest, as: .owner)
            try fill(vault)
            #expect(try readable(vault).read == all)
            try vault.lock(after: .zero, as: .app)
            #expect(vault.lockState == .locked)
            #expect(try readable(vault) == (always.union(afterFirst), all.subtracting(always).subtracting(afterFirst)))
            try vault.unlock(with: .test("123456"), as: .app)
            #expect(try readable(vault).read == all)
        }
        // The next program starts before the first unlocking.
        let vault = try EmbeddedVault.open(at: path)
        #expect(vault.lockState == .beforeFirstUnlock)
        #expect(try readable(vault) == (always, all.subtracting(always)))
        try vault.lock(after: .zero, as: .app)
        #expect(vault.lockState == .beforeFirstUnlock)
        #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) { try vault.unlock(with: .test("12345"), as: .app) }
        #expect(try readable(vault).read == always)
        try vault.unlock(with: .test("123456"), as: .app)
        #expect(try readable(vault).read == all)
        #expect(try vault.verify(as: .owner).problems.isEmpty)
    }

    @Test func changingKeepsTheItemsAndEndsTheOldOne() throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("old"), options: .cheapest, as: .owner)
        try fill(vault)
        #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) {
            try vault.changePasscode(from: .test("other"), to: .test("new"), options: .cheapest, as: .owner)
        }
        try vault.changePasscode(from: .test("old"), to: .test("new"), options: .cheapest, as: .owner)
        #expect(try readable(vault).read.count == 7)
        let another = try EmbeddedVault.open(at: path)
        #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) { try another.unlock(with: .test("old"), as: .app) }
        try another.unlock(with: .test("new"), as: .app)
        #expect(try readable(another).read.count == 7)
    }

    @Test func removingLosesWhatExistsOnlyWithAPasscode() throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("1"), options: .cheapest, as: .owner)
        try fill(vault)
        #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) { try vault.removePasscode(.test("2"), as: .owner) }
        try vault.removePasscode(.test("1"), as: .owner)
        #expect(try vault.items(.password("s", "akpu")).isEmpty)
        #expect(try readable(vault).read.count == 6)
        #expect(throws: VaultError.classKeyAbsent(.whenPasscodeSetThisDeviceOnly)) {
            var item = NewItem.password("s", "again", "value")
            item.accessControl = AccessControl(protection: .whenPasscodeSetThisDeviceOnly)
            _ = try vault.add(item, as: .app)
        }
        // Another passcode brings the class back and not its items.
        try vault.setPasscode(.test("3"), options: .cheapest, as: .owner)
        #expect(try vault.items(.password("s", "akpu")).isEmpty)
        #expect(try vault.items(.password("s", limit: nil)).count == 6)
        #expect(try EmbeddedVault.open(at: path).status(as: .owner).isPasscodeSet)
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        let vault = try EmbeddedVault.open(at: path)
        for operation in [
            { try vault.unlock(with: .test("1"), as: .app) }, { try vault.lock(after: .zero, as: .app) },
            { try vault.removePasscode(.test("1"), as: .owner) },
            { try vault.changePasscode(from: .test("1"), to: .test("2"), options: .cheapest, as: .owner) },
        ] { #expect(throws: VaultError.passcodeNotSet) { try operation() } }
        func isInvalid(_ error: any Error) -> Bool {
            if case .invalidRequest? = error as? VaultError { true } else { false }
        }
        for (passcode, options) in [
            ("", PasscodeOptions.cheapest), (String(repeating: "x", count: 1025), .cheapest),
            ("1", PasscodeOptions(cost: .explicit(memoryMiB: 0, passes: 1))),
            ("1", PasscodeOptions(cost: .explicit(memoryMiB: 1 << 40, passes: 1))),
            ("1", PasscodeOptions(cost: .explicit(memoryMiB: 1, passes: 0))),
            ("1", PasscodeOptions(cost: .explicit(memoryMiB: 1, passes: 1), eraseAfter: 0)),
            ("1", PasscodeOptions(cost: .explicit(memoryMiB: 1, passes: 1), eraseAfter: 256)),
        ] {
            #expect(
                performing: { try vault.setPasscode(.test(passcode), options: options, as: .owner) }, throws: isInvalid)
        }
        // Only who holds every group decides about the whole vault.
        #expect(throws: VaultError.self) { try vault.setPasscode(.test("1"), options: .cheapest, as: .app) }
        try vault.setPasscode(.test("1"), options: .cheapest, as: .owner)
        #expect(throws: VaultError.passcodeIsSet) { try vault.setPasscode(.test("2"), options: .cheapest, as: .owner) }
        #expect(throws: VaultError.self) { try vault.removePasscode(.test("1"), as: .app) }
        #expect(throws: VaultError.wrongPasscode(retryAfter: 0)) { try vault.unlock(with: .test(""), as: .app) }
    }

    /// A program that has the vault open while another sets, changes or removes the passcode.
    @Test func otherProgramsTakeOver() throws {
        let first = try EmbeddedVault.open(at: path)
        try fill6(first)
        let second = try EmbeddedVault.open(at: path)
        try first.setPasscode(.test("1"), options: .cheapest, as: .owner)
        // A program that had nothing to do with the new passcode has to give it before it writes again.
        #expect(throws: VaultError.self) { try second.put(.password("s", "ak", "changed"), as: .app) }
        try second.unlock(with: .test("1"), as: .app)
        _ = try second.put(.password("s", "ak", "value of ak"), as: .app)
        try first.changePasscode(from: .test("1"), to: .test("2"), options: .cheapest, as: .owner)
        _ = try second.put(.password("s", "ak", "value of ak"), as: .app)
        #expect(try readable(second).read.count == 6)
        try first.removePasscode(.test("2"), as: .owner)
        _ = try second.put(.password("s", "ak", "value of ak"), as: .app)
        #expect(second.lockState == .unlocked)
        #expect(try second.verify(as: .owner).problems.isEmpty)
    }

    private func fill6(_ vault: EmbeddedVault) throws {
        for (protection, account) in Self.perClass where protection != .whenPasscodeSetThisDeviceOnly {
            var item = NewItem.password("s", account, "value of \(account)")
            item.accessControl = AccessControl(protection: protection)
            _ = try vault.add(item, as: .app)
        }
    }

    /// None of them is a wrong one, however many there are at a time.
    @Test func manyUnlockAtOnce() throws {
        let vault = try EmbeddedVault.open(at: path)
        let options = PasscodeOptions(cost: .explicit(memoryMiB: 16, passes: 1))
        try vault.setPasscode(.test("1"), options: options, as: .owner)
        try vault.lock(after: .zero, as: .app)
        let failures = Collected<String>()
        let group = DispatchGroup()
        for _ in 0..<24 {
            group.enter()
            Thread.detachNewThread {
                do {
                    try vault.unlock(with: .test("1"), as: .app)
                } catch {
                    failures.append("\(error)")
                }
                group.leave()
            }
        }
        group.wait()
        #expect(failures.all.isEmpty)
        #expect(vault.lockState == .unlocked)
    }

    /// Graces that are over when a test says so.
    private final class Graces: Sendable {
        private let put = Collected<(length: Duration, lock: @Sendable () -> Void)>()

        var surroundings: VaultSurroundings { VaultSurroundings(afterGrace: { [put] in put.append(($0, $1)) }) }

        var lengths: [Duration] { put.all.map(\.length) }

        func end(_ number: Int) { put.all[number].lock() }
    }

    @Test func lockingCanBePutOff() throws {
        let graces = Graces()
        let vault = try EmbeddedVault.open(at: path, surroundings: graces.surroundings)
        try vault.setPasscode(.test("1"), options: .cheapest, as: .owner)
        try vault.lock(after: .seconds(2), as: .app)
        #expect(vault.lockState == .unlocked)
        #expect(graces.lengths == [.seconds(2)])
        graces.end(0)
        #expect(vault.lockState == .locked)
        try vault.unlock(with: .test("1"), as: .app)
        // An unlocking calls a locking off that was put off.
        try vault.lock(after: .milliseconds(50), as: .app)
        try vault.unlock(with: .test("1"), as: .app)
        graces.end(1)
        #expect(vault.lockState == .unlocked)
        #expect(graces.lengths.count == 2)
    }

    @Test func aLockIsNotPutOffAgain() throws {
        let graces = Graces()
        let vault = try EmbeddedVault.open(at: path, surroundings: graces.surroundings)
        try vault.setPasscode(.test("1"), options: .cheapest, as: .owner)
        try vault.lock(after: .milliseconds(50), as: .app)
        try vault.lock(after: .seconds(3600), as: .app)
        #expect(graces.lengths == [.milliseconds(50)])
        graces.end(0)
        #expect(vault.lockState == .locked)
        // One that is due sooner counts.
        try vault.unlock(with: .test("1"), as: .app)
        try vault.lock(after: .seconds(3600), as: .app)
        try vault.lock(after: .milliseconds(50), as: .app)
        #expect(graces.lengths.dropFirst() == [.seconds(3600), .milliseconds(50)])
        graces.end(2)
        #expect(vault.lockState == .locked)
        try vault.unlock(with: .test("1"), as: .app)
        graces.end(1)
        #expect(vault.lockState == .unlocked)
    }

    /// By the machine's own clock.
    @Test func aGraceEnds() async throws {
        let vault = try EmbeddedVault.open(at: path)
        try vault.setPasscode(.test("1"), options: .cheapest, as: .owner)
        let events = vault.lockEvents()
        let begin = ContinuousClock.now
        try vault.lock(after: .milliseconds(50), as: .app)
        for await event in events where event == .locked { break }
        #expect(ContinuousClock.now - begin >= .milliseconds(50))
        #expect(vault.lockState == .locked)
    }

    /// The folder on another machine, with the passcode known; and with the device secret and no passcode.
    @Test func aCopyOpensNothing() throws {
        do {
            let vault = try EmbeddedVault.open(at: path)
            try vault.setPasscode(.test("123456"), options: .cheapest, as: .owner)
            try fill(vault)
        }
        let withSecret = folder.path(of: "stolen-with-secret")
        try FileManager.default.copyItem(atPath: path, toPath: withSecret)
        let thief = try EmbeddedVault.open(at: withSecret)
        #expect(try readable(thief).read == ["dk", "dku"])

        let stolen = folder.path(of: "stolen")
        try FileManager.default.copyItem(atPath: path, toPath: stolen)
        let elsewhere = folder.path(of: "elsewhere")
        _ = try EmbeddedVault.open(at: elsewhere)
        try FileManager.default.removeItem(atPath: stolen + "/device-secret")
        try FileManager.default.copyItem(atPath: elsewhere + "/device-secret", toPath: stolen + "/device-secret")
        #expect(throws: VaultError.self) { try EmbeddedVault.open(at: stolen) }
    }
}

extension SecretBytes {
    static func test(_ text: String) throws -> SecretBytes { try SecretBytes(text) }
}
