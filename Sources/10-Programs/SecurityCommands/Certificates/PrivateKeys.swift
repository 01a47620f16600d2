import Access
import Certificates
import CommandKit
import FoundationEssentials
import KeyCommands
import KeychainModel
import StatusCodes
import VaultInterface
import VaultKeys

extension OpenedKeychain {
    /// Returns a private key as PKCS#8. A person is asked if the key requires it.
    ///
    /// - Parameter purpose: What the person is told, as in "sign a message with".
    func privateKeyInfo(of pair: KeyPair, to purpose: String) throws -> Data {
        var options = AuthenticationOptions()
        options.prompt = "\(purpose) the private key '\(pair.name)'."
        return try securing("SecKeychainItemExport") {
            let session = KeyCommandSession(session)
            let key = try session.privateKey(of: pair, options)
            guard key.kept == nil else {
                throw SecurityFailure.other(
                    "SecKeychainItemExport: the key '\(pair.name)' is in the enclave and cannot leave it: `keychain key "
                        + "sign` signs with it")
            }
            guard let info = try key.keyData.privateKeyInfo() else {
                throw SecurityFailure.status(errSecDecode, during: "SecKeychainItemExport")
            }
            return info
        }
    }
}
