import Foundation
import KeychainModel
import ProcessVault
import StoredKeys
import VaultInterface

/// The items of a keyring in the keychain: the list, under the numbers of generations, and the keys, under their
/// identifiers.
struct KeyringItems: Sendable {
    typealias Item = KeyItems.Item

    let name: String
    private let items: KeyItems

    static let generationPrefix = "generation/"
    static let digestAccount = "digest"
    static let databasePrefix = "database/"

    init(name: String, accessGroup: String?, prompt: String?, session: (any VaultSessionProvider)?) {
        self.name = name
        items = KeyItems(
            service: KeyPurpose.sealedFieldsPrefix + name, label: "Sealed fields of \(name)", accessGroup: accessGroup,
            prompt: prompt, session: session)
    }

    func list() throws -> [Item] {
        try translating { try items.list() }
    }

    /// Adds an item without a key to the list, in the class of `protection`. Does nothing if the item already exists.
    func add(_ account: String, protection: AccessControl) throws {
        _ = try translating {
            try items.add(account, generic: Data(), protection: protection)
        }
    }

    /// Stores a key and puts it on the list. Returns false if a key already exists under the account.
    func store(
        _ id: FieldKeyID, _ value: Data, as account: String, _ protection: StoredKeyProtection
    ) throws -> Bool {
        try translating {
            try items.store(
                (id.description, value), as: account, note: id.data,
                protection)
        }
    }

    /// A key as it was stored. Reading it may ask a person.
    func key(_ reference: KeyReference) throws -> Data? {
        try translating {
            try items.read(
                reference.id.description,
                StoredKeyReference(note: reference.id.data, enclaveKey: reference.enclaveKey))
        }
    }

    /// Takes an item off the list. Does nothing if the list does not have it.
    func remove(_ account: String) throws {
        try translating { try items.remove(account) }
    }

    /// Removes a key, and the enclave key that it is encrypted for. Asks nobody.
    func removeKey(_ reference: KeyReference) throws {
        try translating {
            try items.removeKey(reference.id.description, enclaveKey: reference.enclaveKey)
        }
    }

    /// Removes all items of the keyring, and its enclave keys.
    func removeAll() throws {
        try translating { try items.removeAll() }
    }

    /// The vault whose lock counts for the keyring.
    func vaultSession() throws -> VaultSession {
        try translating { try items.vaultSession() }
    }

    func damaged(_ message: String) -> SealedFieldsError {
        SealedFieldsError(.damagedKey, subject: name, message: message)
    }

    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        try SealedFieldsError.translating(name, body)
    }
}

extension SealedFieldsError {
    package init(_ cause: any Error, at keyring: String?) {
        if let error = cause as? SealedFieldsError {
            self = error
            return
        }
        let code: Code =
            switch cause as? StoredKeyError {
            case .locked: .locked
            case .notAuthenticated, .canceled: .authenticationFailed
            case .accessDenied: .accessDenied
            case .memoryUnavailable: .outOfMemory
            case .damaged: .damagedKey
            case .vault, nil: .keychain
            }
        self.init(code, subject: keyring, message: "\(cause)")
    }
}
