import Bytes
import Certificates
import FoundationEssentials
import KeychainModel

/// A key in the keychain: what is stored of its two halves. Finding it asks nobody.
package struct KeyPair {
    /// What is known about the private half.
    package enum PrivateHalf {
        case absent
        /// An item that may be read. It has its value if that is the record of a key of the enclave.
        case found(StoredItem)
        /// An item that needs a person.
        case withheld(AccessControl)
        /// An item that the lock hides.
        case locked
    }

    /// SHA-1 of the public key, which both halves and their certificates share (`kSecAttrApplicationLabel`).
    package var hash: Data
    package var group: String
    /// With its value.
    package var publicHalf: StoredItem?
    package var privateHalf = PrivateHalf.absent

    package init(hash: Data, group: String) { (self.hash, self.group) = (hash, group) }

    /// How many characters of the hash are shown. A name needs at least as many to be taken for a hash.
    package static let shownHashLength = 8

    /// The half whose attributes describe the key.
    package var described: StoredItem? {
        if case .found(let item) = privateHalf { return item }
        return publicHalf
    }

    package var label: AttributeValue? { text(.label) }
    package var tag: AttributeValue? { text(.applicationTag) }

    private func text(_ name: AttributeName) -> AttributeValue? {
        described?.attributes[name].flatMap { $0 == .string("") || $0 == .data(Data()) ? nil : $0 }
    }

    /// What the program that made the key calls it as an object of a token (CKA_ID); nil if it made no choice.
    package var tokenName: Data? { publicHalf?.tokenName ?? described?.tokenName }

    /// Whether this is a key of AES or HMAC, which is no pair: it has a private half alone.
    package var isSecretKey: Bool { described?.attributes[.keyClass] == .number(2) }

    /// The parameter set of ML-DSA or ML-KEM; nil for other keys.
    package var postQuantum: PostQuantumKind? { described.flatMap { PostQuantumKind($0.attributes) } }

    package var hexadecimalHash: String { hash.hexadecimal() }

    package var hasPrivateHalf: Bool {
        if case .absent = privateHalf { return false }
        return true
    }

    /// The record of a key of the enclave, if it could be read.
    package var enclaveRecord: EnclaveKeyRecord? {
        guard case .found(let item) = privateHalf, item.isEnclaveKey else { return nil }
        return item.value.flatMap(EnclaveKeyRecord.init(decoding:))
    }

    package var isInEnclave: Bool {
        if case .found(let item) = privateHalf { return item.isEnclaveKey }
        return false
    }

    /// What using the private half takes; nil if the lock hides it or there is no private half.
    package var accessControl: AccessControl? {
        switch privateHalf {
        case .absent, .locked: nil
        case .withheld(let control): control
        case .found(let item): enclaveRecord?.accessControl ?? item.accessControl
        }
    }

    /// The public key, if it can be had without the private one.
    package var publicKey: VaultKey? {
        if let publicHalf { return VaultKey.stored(in: publicHalf) }
        if enclaveRecord != nil, case .found(let item) = privateHalf {
            return VaultKey.stored(in: item)?.publicKey
        }
        return nil
    }
}

extension StoredItem {
    /// Whether the item stands for a key that the vault's enclave keeps.
    package var isEnclaveKey: Bool { attributes[.tokenID] == .string(EnclaveKeyRecord.tokenID) }

    /// The custom attribute that keeps ``tokenName``, in hexadecimal digits.
    package static let tokenNameAttribute = "pkcs11-id"

    /// What the program that made the key calls it as an object of a token (CKA_ID); nil if it made no choice.
    package var tokenName: Data? {
        customAttributes[Self.tokenNameAttribute].flatMap { [UInt8](hexadecimal: $0.utf8) }.map { Data($0) }
    }
}
