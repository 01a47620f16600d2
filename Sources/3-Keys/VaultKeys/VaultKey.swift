import Certificates
import FoundationEssentials
import KeyCryptography
import Synchronization

/// A private or public key of the keychain. Its private half is in this process, or elsewhere and used there.
///
/// Neither the description nor reflection shows secret bytes.
package final class VaultKey: Sendable {
    /// The key. For a private key that is elsewhere, this is the public half.
    package let keyData: KeyData
    /// The place of the private half, if it is not in this object.
    package let kept: KeptKey?
    /// Loaded at first use, because loading a key often takes longer than using it.
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

    /// Makes the private key of a pair whose private half is elsewhere.
    package init(publicKey: KeyData, kept: KeptKey) {
        keyData = publicKey.publicKey
        self.kept = kept
    }

    /// Makes a key from its external representation; nil if the bytes are not a key of this type and class. The numbers
    /// are those of `kSecAttrKeyType` and `kSecAttrKeyClass`.
    package convenience init?(bytes: Data, type: Int, keyClass: Int) {
        guard let type = KeyData.KeyType(rawValue: type), let keyClass = KeyData.KeyClass(rawValue: keyClass),
            let keyData = try? KeyData(bytes, type: type, keyClass: keyClass)
        else { return nil }
        self.init(keyData)
    }

    package var keyClass: KeyData.KeyClass { kept == nil ? keyData.keyClass : .private }

    /// The public half. For a public key, the key itself.
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
    /// Returns whether both are the same half of the same key.
    package static func == (left: VaultKey, right: VaultKey) -> Bool {
        left.keyClass == right.keyClass && left.keyData == right.keyData && (left.kept == nil) == (right.kept == nil)
    }
}

/// A private key that is used in its place and never leaves it, such as a key of an enclave.
package struct KeptKey: Sendable {
    /// The holder of the key, as in `kSecAttrTokenID`.
    package let tokenID: String
    package let operations: any PrivateKeyOperations
    /// The stored value: the holder needs it to find the key, and nobody else can use it.
    package let storedValue: Data

    package init(tokenID: String, operations: any PrivateKeyOperations, storedValue: Data) {
        self.tokenID = tokenID
        self.operations = operations
        self.storedValue = storedValue
    }
}
