import TestSupport
import Vault

extension VaultWorker {
    /// Makes the vault that is kept as an example of the format.
    static func writeFixture(_ path: String) throws {
        let vault = try EmbeddedVault.open(at: path)
        for item in FixtureItems.all { _ = try vault.add(item, as: FixtureItems.client) }
        try FixtureItems.change(vault)
    }
}
