import Access
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Items that are bound to the fingers that were enrolled when they were stored.
@Suite struct EnrolmentTests {
    private typealias Items = AccessControlledItemTests

    @Test(arguments: [
        AccessControl.Flags.biometryCurrentSet, [.biometryCurrentSet, .or],
        [.biometryCurrentSet, .and, .devicePasscode],
        [.biometryCurrentSet, .devicePasscode],
    ])
    func diesWithTheEnrolment(flags: AccessControl.Flags) throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person: person)
        _ = try vault.add(Items.item("a", flags), as: .app)
        _ = try vault.add(Items.item("any", .biometryAny), as: .app)
        #expect(try vault.copy(Items.query("a"), includingValues: true, as: .app).count == 1)
        let before = person.enrolment
        for enrolment in [Data("two fingers".utf8), nil] {
            person.enrolment = enrolment
            let asked = person.requests.count
            for includingValues in [true, false] {
                #expect(throws: VaultError.enrolmentChanged) {
                    try vault.copy(Items.query("a"), includingValues: includingValues, as: .app)
                }
            }
            #expect(throws: VaultError.enrolmentChanged) {
                try vault.update(Items.query("a"), with: ItemChanges(value: Data()), as: .app)
            }
            #expect(person.requests.count == asked)
            #expect(try vault.copy(Items.query("any"), includingValues: true, as: .app).count == 1)
        }
        person.enrolment = before
        #expect(try vault.copy(Items.query("a"), includingValues: true, as: .app).count == 1)
        person.enrolment = nil
        #expect(try vault.delete(Items.query("a"), as: .app) == 1)
    }

    /// Where the passcode will do as well, the passcode still does, and a new finger does not.
    @Test func anAlternativeOutlivesTheEnrolment() throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person: person)
        _ = try vault.add(Items.item("a", [.biometryCurrentSet, .or, .devicePasscode]), as: .app)
        person.willAnswer(.succeeded(.biometry))
        #expect(try vault.copy(Items.query("a"), includingValues: true, as: .app).count == 1)
        person.enrolment = Data("two fingers".utf8)
        #expect(throws: VaultError.authenticationFailed) {
            try vault.copy(Items.query("a"), includingValues: true, as: .app)
        }
        #expect(person.requests.last?.flags == [.or, .devicePasscode])
        person.willAnswer(.succeeded(.passcode))
        #expect(try vault.copy(Items.query("a"), includingValues: true, as: .app).count == 1)
        // Changing the item does not let the new finger in.
        #expect(try vault.update(Items.query("a"), with: ItemChanges(value: Data("new".utf8)), as: .app) == 1)
        person.willAnswer(.succeeded(.biometry))
        #expect(throws: VaultError.authenticationFailed) {
            try vault.copy(Items.query("a"), includingValues: true, as: .app)
        }
    }

    @Test func isNotStoredWhereNobodyIsEnrolled() throws {
        let person = PersonUnderTest()
        person.enrolment = nil
        let vault = try memoryVault(person: person)
        #expect(throws: VaultError.presence(.biometryNotEnrolled)) {
            try vault.add(Items.item("a", .biometryCurrentSet), as: .app)
        }
        #expect(throws: VaultError.presence(.biometryNotAvailable)) {
            try memoryVault().add(Items.item("a", .biometryCurrentSet), as: .app)
        }
        #expect(try vault.items(Items.query()).isEmpty)
    }

    @Test func goesWithAPassword() throws {
        let person = PersonUnderTest()
        let vault = try memoryVault(person: person)
        let flags: AccessControl.Flags = [.biometryCurrentSet, .applicationPassword]
        _ = try vault.add(Items.item("a", flags, password: "pw"), as: .app)
        #expect(try vault.copy(Items.query("a", password: "pw"), includingValues: true, as: .app).count == 1)
        #expect(throws: VaultError.authenticationFailed) {
            try vault.copy(Items.query("a", password: "other"), includingValues: true, as: .app)
        }
        person.enrolment = Data("two fingers".utf8)
        #expect(throws: VaultError.enrolmentChanged) {
            try vault.copy(Items.query("a", password: "pw"), includingValues: true, as: .app)
        }
    }
}
