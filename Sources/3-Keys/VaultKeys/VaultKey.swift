import Certificates
import FoundationEssentials
import KeyCryptography
import KeychainModel
import Synchronization

/// A half of a key as the keychain has it: in this process, or kept elsewhere and used there.
///
/// Neither the description nor reflection shows secret bytes.
package final class VaultKey: Sendable {
    /// The key; of a private key that is kept elsewhere, the public half.
    package let keyData: KeyData
    /// Where the private half is kept if that is not in this object.
    package let kept: KeptKey?
    /// Loaded on first use, because loading a key often takes longer than using it.
    private let loaded = Mutex(LoadedOperations())

    private struct LoadedOperations {
        var `private`: (any PrivateKeyOperations)?
        var `public`: (any PublicKeyOperations)?
        var publicKey: VaultKey?
    }

    package init(_ keyData: KeyData) {
        self.keyData = keyData
        kept = nil
    }

    /// The private key of a pair whose private half is kept elsewhere.
    package init(publicKey: KeyData, kept: KeptKey) {
        keyData = publicKey.publicKey
        self.kept = kept
    }

    /// The key with this external representation; nil if it is none of the given type and class, which
    /// are numbers as in `kSecAttrKeyType` and `kSecAttrKeyClass`.
    package convenience init?(bytes: Data, type: Int, keyClass: Int) {
        guard let type = KeyData.KeyType(rawValue: type), let keyClass = KeyData.KeyClass(rawValue: keyClass),
            let keyData = try? KeyData(bytes, type: type, keyClass: keyClass)
        else { return nil }
        self.init(keyData)
    }

    package var keyClass: KeyData.KeyClass { kept == nil ? keyData.keyClass : .private }

    /// The public half; of a public key, the key itself.
    package var publicKey: VaultKey {
        if keyClass == .public { return self }
        return loaded.withLock { loaded in
            if let publicKey = loaded.publicKey { return publicKey }
            let publicKey = VaultKey(keyData.publicKey)
            loaded.publicKey = publicKey
            return publicKey
        }
    }

    package func privateOperations() throws(KeyError) -> any PrivateKeyOperations {
        if let kept { return kept.operations }
        return try loaded.withLock { loaded throws(KeyError) in
            if let operations = loaded.private { return operations }
            let operations = try SoftwareKeys.privateOperations(of: keyData)
            loaded.private = operations
            return operations
        }
    }

    package func publicOperations() throws(KeyError) -> any PublicKeyOperations {
        try loaded.withLock { loaded throws(KeyError) in
            if let operations = loaded.public { return operations }
            let operations = try SoftwareKeys.publicOperations(of: keyData)
            loaded.public = operations
            return operations
        }
    }
}

extension VaultKey: Equatable {
    /// Whether both are the same half of the same key.
    package static func == (left: VaultKey, right: VaultKey) -> Bool {
        left.keyClass == right.keyClass && left.keyData == right.keyData && (left.kept == nil) == (right.kept == nil)
    }
}

/// A private key that is used where it is kept and never given away, such as one of an enclave.
package struct KeptKey: Sendable {
    /// Which keeper, as in `kSecAttrTokenID`.
    package let tokenID: String
    package let operations: any PrivateKeyOperations
    /// What is stored of the key: what its keeper needs to find it again, and nothing that anybody else can use.
    package let storedValue: Data

    package init(tokenID: String, operations: any PrivateKeyOperations, storedValue: Data) {
        self.tokenID = tokenID
        self.operations = operations
        self.storedValue = storedValue
    }
}
