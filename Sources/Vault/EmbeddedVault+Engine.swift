extension EmbeddedVault: VaultEngine {
    package static func openVault(at path: String) throws(VaultError) -> any Vault {
        try open(at: path)
    }
}
