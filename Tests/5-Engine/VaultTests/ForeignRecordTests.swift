import Access
import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Records that a client brings, and that this vault did not make. The fault is the client's: nothing of it may look
/// like a damaged vault to those who watch the daemon.
@Suite struct ForeignRecordTests {
    private let vault: EmbeddedVault

    init() throws { vault = try memoryVault() }

    @Test func keysOfTheEnclaveThatWereChangedAreInvalidRequests() throws {
        let made = try vault.perform(
            MakeEnclaveKey(.p256Signing, accessControl: AccessControl(protection: .afterFirstUnlock), options: .init()),
            as: .app)
        func use(_ record: EnclaveKeyRecord) throws(VaultError) -> Data {
            try vault.perform(
                UseEnclaveKey(record, for: .sign(digest: Data(count: 32)), options: .init()), as: .app)
        }
        #expect(try !use(made).isEmpty)
        for change: (inout EnclaveKeyRecord) -> Void in [
            { $0.tag = Data(count: $0.tag.count) }, { $0.blob = Data(count: $0.blob.count) }, { $0.blob = Data() },
            { $0.publicKey = Data(count: 65) }, { $0.factors = Data([1, 2, 3]) },
            { $0.accessControl = AccessControl(protection: .whenUnlocked) },
            { $0.accessControl = AccessControl(protection: .afterFirstUnlock, flags: .applicationPassword) },
        ] {
            var record = made
            change(&record)
            do {
                _ = try use(record)
                Issue.record("a changed record was used")
            } catch .itemPasswordMissing {
                // Asked for first.
            } catch {
                guard case .invalidRequest = error else { throw error }
                #expect(AuditFailure(error) == .invalid)
            }
        }
    }

    /// Whether this vault made a record it says without a person, whatever the key demands for its use.
    @Test func keysOfTheEnclaveAreRecognized() throws {
        let control = AccessControl(
            protection: .whenUnlockedThisDeviceOnly, flags: [.userPresence, .privateKeyUsage])
        let made = try vault.perform(
            MakeEnclaveKey(.p256Signing, accessControl: control, options: .init()), as: .app)
        func recognize(_ record: EnclaveKeyRecord) throws(VaultError) {
            let options = AuthenticationOptions(interaction: .fail)
            #expect(try vault.perform(UseEnclaveKey(record, for: .recognize, options: options), as: .app).isEmpty)
        }
        try recognize(made)
        let other = try memoryVault().perform(
            MakeEnclaveKey(.p256Signing, accessControl: control, options: .init()), as: .app)
        for change: (inout EnclaveKeyRecord) -> Void in [
            { $0 = other }, { $0.tag = Data(count: $0.tag.count) }, { $0.publicKey = other.publicKey },
            { $0.accessControl.flags = nil }, { $0.accessControl.protection = .always }, { $0.kind = .p256 },
            { $0.salt = other.salt },
        ] {
            var record = made
            change(&record)
            #expect {
                try recognize(record)
            } throws: { error in
                guard case .invalidRequest? = error as? VaultError else { return false }
                return true
            }
        }
        let locked = try vault.perform(
            MakeEnclaveKey(
                .p256Signing, accessControl: AccessControl(protection: .whenUnlocked, flags: .applicationPassword),
                options: AuthenticationOptions(
                    applicationPassword: try Data("a password".utf8).withUnsafeBytes { try SecretBytes(copying: $0) })),
            as: .app)
        #expect(throws: VaultError.self) { try recognize(locked) }
    }

    @Test func keysOfFilesThatAreNoneAreInvalidRequests() throws {
        let file = Data(count: FileKey.identifierSize)
        for wrapped in [Data(), Data(count: 40), Data(count: 72), Data(count: 100_000)] {
            do {
                _ = try vault.perform(OpenFileKey(for: .none, file: file, wrapped: wrapped), as: .app)
                Issue.record("a key was opened")
            } catch {
                #expect(error == .corruptFileKey && AuditFailure(error) == .invalid)
            }
        }
    }
}
