import Access
import TestSupport
import Vault

/// The engine with a way to ask.
enum EmbeddedVaultForQuestions {
    static func open(in folder: TemporaryFolder, _ authenticator: any Authenticator) throws -> EmbeddedVault {
        try EmbeddedVault.open(at: folder.path(of: "vault"), authenticator: authenticator)
    }
}
