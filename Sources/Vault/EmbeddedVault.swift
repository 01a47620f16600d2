import Access
import Foundation
import KeychainModel

package final class EmbeddedVault: Sendable {
    package static func open(at path: String) throws(VaultError) -> any Vault {
        throw .unsupported(reason: "not yet")
    }
}
