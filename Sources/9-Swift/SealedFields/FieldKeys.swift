import Foundation
import ProcessVault
import Synchronization
import VaultInterface

/// A keyring: the keys that seal the fields of one or several databases. The keychain stores them.
///
/// ```swift
/// let keys = FieldKeys("com.example.notes")
/// let sealing = FieldSealing(database: "notes", keys: keys)
/// ```
///
/// A keyring has a key for each *generation*. The newest key seals new values. Older keys open the values that they
/// sealed, until ``FieldRotation`` has sealed those again and ``removeGeneration(_:checking:)`` removes the key. The
/// first generation is made when the first value is sealed.
///
/// Keys stay in memory until ``discard()``, which wipes them. Keys of classes that close with the vault stay only until
/// it is locked.
public final class FieldKeys: Sendable {
    /// The name of the keys in the keychain; by custom in reverse-domain form.
    public let name: String
    /// The protection of new generations: where they are stored, and the conditions for using one.
    public let protection: StoredKeyProtection

    private let accessGroup: String?
    private let prompt: String?
    /// The keychain of the task that made this value, for tasks and threads that have none of their own.
    private let home: (any VaultSessionProvider)?
    /// The keyring in the process's own keychain.
    private let own: Keyring
    /// The keyrings in keychains that replace it in tests. One keyring value has other keys in each keychain.
    private let standing = Mutex<[(provider: any VaultSessionProvider, keyring: Keyring)]>([])

    /// The keyring of that name; nothing is read or made before it is used.
    ///
    /// - Parameters:
    ///   - name: See ``name``.
    ///   - protection: Where new generations are; those that exist stay as they are.
    ///   - accessGroup: The access group; nil for the program's first.
    ///   - prompt: What a person is told who is asked for a key; nil for the vault's own words.
    public init(
        _ name: String, protection: StoredKeyProtection = .keychain(.whenUnlockedThisDeviceOnly),
        accessGroup: String? = nil,
        prompt: String? = nil
    ) {
        self.name = name
        self.protection = protection
        self.accessGroup = accessGroup
        self.prompt = prompt
        home = VaultSession.override
        own = Keyring(protection, KeyringItems(name: name, accessGroup: accessGroup, prompt: prompt, session: nil))
    }

    /// The most keychains that are remembered; a program has one.
    private static let greatestKeychainCount = 16

    /// The keys in the keychain that the calling task uses.
    var keyring: Keyring {
        guard let provider = VaultSession.override ?? home else { return own }
        return standing.withLock { standing in
            if let known = standing.last(where: { $0.provider as AnyObject === provider as AnyObject }) {
                return known.keyring
            }
            let items = KeyringItems(name: name, accessGroup: accessGroup, prompt: prompt, session: provider)
            let keyring = Keyring(protection, items)
            standing.append((provider, keyring))
            if standing.count > Self.greatestKeychainCount { standing.removeFirst() }
            return keyring
        }
    }

    /// Removes the keys from memory and wipes them. The next value needs the keychain again, and the keychain may ask a
    /// person.
    public func discard() { keyring.discard() }

    /// Removes all keys of the keyring from the keychain and from memory. Values that they sealed can never be opened
    /// again.
    ///
    /// - Throws: ``SealedFieldsError``.
    public func destroy() throws {
        try keyring.items.removeAll()
        keyring.discard()
    }
}
