import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// A vault that is open in two programs, of which one changes the passcode.
@Suite struct OtherProgramPasscodeTests {
    private let folder: TemporaryFolder
    /// Opened before there was a passcode.
    private let early: EmbeddedVault
    private let other: EmbeddedVault

    init() throws {
        folder = try TemporaryFolder()
        early = try EmbeddedVault.open(at: folder.path(of: "vault"))
        other = try EmbeddedVault.open(at: folder.path(of: "vault"))
        try other.setPasscode(.test("123456"), options: .cheapest, as: .owner)
    }

    @Test func settingASecondPasscodeDeletesNothing() throws {
        var item = NewItem.password("s", "a", "treasure")
        item.accessControl = AccessControl(protection: .whenPasscodeSetThisDeviceOnly)
        _ = try other.add(item, as: .app)
        #expect(throws: VaultError.passcodeIsSet) {
            try early.setPasscode(.test("other"), options: .cheapest, as: .owner)
        }
        #expect(
            try other.copy(.password("s", "a"), includingValues: true, as: .app).first?.value == Data("treasure".utf8))
    }

    @Test func settingASecondPasscodeForgetsNoWrongOnes() throws {
        #expect(throws: VaultError.self) { try other.unlock(with: .test("wrong"), as: .app) }
        #expect(throws: VaultError.self) {
            try early.setPasscode(.test("other"), options: .cheapest, as: .owner)
        }
        #expect(try other.status(as: .owner).failedAttempts == 1)
    }

    @Test func lockingLocks() throws {
        _ = try other.add(.password("s", "a", "treasure"), as: .app)
        try early.lock(after: .zero, as: .app)
        #expect(throws: VaultError.self) { try early.copy(.password("s", "a"), includingValues: true, as: .app) }
    }

    @Test func aRemovalUnlocks() throws {
        _ = try other.add(.password("s", "a", "treasure"), as: .app)
        try early.lock(after: .zero, as: .app)
        try other.removePasscode(.test("123456"), as: .owner)
        #expect(
            try early.copy(.password("s", "a"), includingValues: true, as: .app).first?.value == Data("treasure".utf8))
    }

    @Test func thePasscodeIsSeen() throws {
        #expect(try early.status(as: .owner).isPasscodeSet)
    }
}
