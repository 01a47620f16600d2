import Access
import Enclave
import Items
import Keybag
import PrivateFiles
import VaultInterface

extension EmbeddedVault: VaultEngine {
    package static func openVault(at path: String) throws(VaultError) -> any VaultEngine {
        try open(
            at: path, authenticator: ProcessAuthenticator(folder: path), audit: auditSink(forVaultAt: path))
    }

    package func close() {
        gate.flush()
        currentKeybag.keys.enclave.close()
        let logSize = (try? folder?.folder.size(of: VaultFolder.storeName + "-wal")) ?? 0
        if logSize > Self.largestLogLeft { return store.abandon() }
        // A store that only reads holds nothing that the end of the process does not release.
        if store.hasWritten { try? store.close() }
    }

    /// The most bytes of the write-ahead log that a program that only read may leave. Reading them costs less than a
    /// checkpoint.
    private static let largestLogLeft = 1 << 16
}
