import Crypto
import FoundationEssentials
import KeychainModel

extension ClassKeys {
    /// Returns the key of a class of files.
    ///
    /// - Throws: ``KeybagError/locked(_:)``.
    package func fileClassKey(of fileClass: FileProtectionClass) throws(KeybagError) -> SymmetricKey {
        FileClassKeys.key(of: fileClass, from: try classKey(for: FileClassKeys.protection(of: fileClass)))
    }

    /// Returns the private key for files that a locked machine may create.
    ///
    /// - Throws: ``KeybagError/locked(_:)``.
    package func fileAgreementKey() throws(KeybagError) -> FileClassKeys.PrivateKey {
        try FileClassKeys.agreementKey(from: classKey(for: FileClassKeys.protection(of: .completeUnlessOpen)))
    }
}
