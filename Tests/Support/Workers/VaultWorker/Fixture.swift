import Bytes
import Foundation
import Keybag
import KeychainModel
import SecureMemory
import Synchronization
import TestSupport
import Vault
import VaultInterface

extension VaultWorker {
    /// Makes the vault that is kept as an example of the format.
    static func writeFixture(_ path: String) throws {
        let vault = try EmbeddedVault.open(at: path)
        for item in FixtureItems.all { _ = try vault.add(item, as: FixtureItems.client) }
        try FixtureItems.change(vault)
    }

    /// Makes the example of items that more than a class key opens.
    @discardableResult
    static func writeGuardedFixture(_ path: String) throws -> EmbeddedVault {
        let person = PersonUnderTest()
        person.enrolment = FixtureItems.enrolment
        let vault = try EmbeddedVault.open(
            at: path,
            surroundings: VaultSurroundings(
                authenticator: person, passwordCost: Argon2id.Cost(memoryKiB: 64, passes: 2)))
        for item in try FixtureItems.guarded() { _ = try vault.add(item, as: FixtureItems.client) }
        return vault
    }

    /// Makes the same example in a vault whose class keys were renewed twice.
    static func writeRenewedFixture(_ path: String) throws {
        let vault = try writeGuardedFixture(path)
        for _ in 0..<2 { try vault.renewKeys() }
        vault.close()
    }

    /// Writes a backup of the vault in the folder at `path`.
    static func writeFixtureBackup(_ path: String, to file: String) throws {
        let (salt, cost) = ([UInt8].random(count: BackupSeal.saltSize), Argon2Cost(memoryKiB: 8 << 10, passes: 1))
        let key = try Argon2idStretching.stretch(
            SecretBytes("correct horse"), salt: salt, memoryKiB: cost.memoryKiB, passes: cost.passes)
        let (bytes, _) = try EmbeddedVault.open(at: path)
            .makeBackup(.password(stretched: key, salt: salt, cost: cost), as: .owner)
        try bytes.write(to: URL(fileURLWithPath: file))
    }
}
