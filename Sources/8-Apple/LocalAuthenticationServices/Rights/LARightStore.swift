import Foundation
import KeychainModel

/// The rights that a program keeps in the keychain, in the access group where its new items go.
///
/// With each right the vault's enclave makes a key, and the right may have a secret. Both are open while the vault is
/// unlocked, on this machine alone, and to a person who meets the right's requirement. Neither is in a backup that
/// another machine can restore.
///
/// A right that is removed is not found any more, and its secret is gone. An object of it that the program still holds
/// can use the key until the program lets it go, because the vault keeps no list of keys.
public final class LARightStore: NSObject, Sendable {
    /// The store of the running program.
    public static let shared = LARightStore()

    private override init() {
        super.init()
    }

    // MARK: Finding

    /// Finds a right. It has to be authorized before its key and its secret can be used. Asks nobody.
    ///
    /// - Parameters:
    ///   - identifier: Under which it was saved.
    ///   - completion: Called once, on a queue of this module, with the right, or an ``LAError``:
    ///     ``LAError/Code/resourceNotFound`` if there is none, ``LAError/Code/notInteractive`` while the vault is
    ///     locked.
    public func right(
        forIdentifier identifier: String, completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        answer(completion) { session in
            guard let right = try RightItems(session).right(identifier) else { throw Self.notFound }
            return try LAPersistedRight(right)
        }
    }

    /// Finds a right. It has to be authorized before its key and its secret can be used. Asks nobody.
    ///
    /// - Parameter identifier: Under which it was saved.
    /// - Throws: ``LAError``: ``LAError/Code/resourceNotFound`` if there is none, ``LAError/Code/notInteractive`` while
    ///   the vault is locked.
    public func right(forIdentifier identifier: String) async throws -> LAPersistedRight {
        try await value { self.right(forIdentifier: identifier, completion: $0) }
    }

    // MARK: Saving

    /// Saves a right with a new key. Asks nobody.
    ///
    /// - Parameters:
    ///   - right: Whose requirement is to guard the key.
    ///   - identifier: Under which it is found again. A right that was saved under it before is replaced, and its key
    ///     and secret are lost.
    ///   - completion: Called once, on a queue of this module, with the right as it is kept, which nobody has
    ///     authorized, or an ``LAError``.
    public func saveRight(
        _ right: LARight, identifier: String,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        save(right, identifier, nil, completion)
    }

    /// Saves a right with a new key. Asks nobody.
    ///
    /// - Parameters:
    ///   - right: Whose requirement is to guard the key.
    ///   - identifier: Under which it is found again. A right that was saved under it before is replaced, and its key
    ///     and secret are lost.
    /// - Returns: The right as it is kept, which nobody has authorized.
    /// - Throws: ``LAError``.
    @discardableResult
    public func saveRight(_ right: LARight, identifier: String) async throws -> LAPersistedRight {
        try await value { self.saveRight(right, identifier: identifier, completion: $0) }
    }

    /// Saves a right with a new key and a secret. Asks nobody.
    ///
    /// - Parameters:
    ///   - right: Whose requirement is to guard the key and the secret.
    ///   - identifier: Under which it is found again. A right that was saved under it before is replaced, and its key
    ///     and secret are lost.
    ///   - secret: The secret.
    ///   - completion: Called once, on a queue of this module, with the right as it is kept, which nobody has
    ///     authorized, or an ``LAError``.
    public func saveRight(
        _ right: LARight, identifier: String, secret: Data,
        completion: @escaping @Sendable (LAPersistedRight?, (any Error)?) -> Void
    ) {
        save(right, identifier, secret, completion)
    }

    /// Saves a right with a new key and a secret. Asks nobody.
    ///
    /// - Parameters:
    ///   - right: Whose requirement is to guard the key and the secret.
    ///   - identifier: Under which it is found again. A right that was saved under it before is replaced, and its key
    ///     and secret are lost.
    ///   - secret: The secret.
    /// - Returns: The right as it is kept, which nobody has authorized.
    /// - Throws: ``LAError``.
    @discardableResult
    public func saveRight(_ right: LARight, identifier: String, secret: Data) async throws -> LAPersistedRight {
        try await value { self.saveRight(right, identifier: identifier, secret: secret, completion: $0) }
    }

    private func save(
        _ right: LARight, _ identifier: String, _ secret: Data?, _ completion: @escaping Answer<LAPersistedRight>
    ) {
        let requirement = right.requirement
        answer(completion) { session in
            // Without anybody enrolled the vault refuses too, and says less.
            if requirement.flags.contains(.biometryCurrentSet),
                let failure = LAContext().unavailability(of: requirement.policy, in: session)
            {
                throw failure
            }
            return try LAPersistedRight(RightItems(session).save(identifier, requirement.flags, secret: secret))
        }
    }

    // MARK: Removing

    /// Removes a right with its key and its secret. Asks nobody.
    ///
    /// - Parameters:
    ///   - right: The right.
    ///   - completion: Called once, on a queue of this module, with nil, or an ``LAError``:
    ///     ``LAError/Code/resourceNotFound`` if it is not there any more.
    public func removeRight(_ right: LAPersistedRight, completion: @escaping @Sendable ((any Error)?) -> Void) {
        removeRight(forIdentifier: right.identifier, completion: completion)
    }

    /// Removes a right with its key and its secret. Asks nobody.
    ///
    /// - Throws: ``LAError``: ``LAError/Code/resourceNotFound`` if it is not there any more.
    public func removeRight(_ right: LAPersistedRight) async throws {
        try await outcome { self.removeRight(right, completion: $0) }
    }

    /// Removes a right with its key and its secret. Asks nobody.
    ///
    /// - Parameters:
    ///   - identifier: Under which it was saved.
    ///   - completion: Called once, on a queue of this module, with nil, or an ``LAError``:
    ///     ``LAError/Code/resourceNotFound`` if there is none.
    public func removeRight(
        forIdentifier identifier: String, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        answer({ (_: Void?, error) in completion(error) }) { session in
            guard try RightItems(session).remove(identifier) else { throw Self.notFound }
        }
    }

    /// Removes a right with its key and its secret. Asks nobody.
    ///
    /// - Parameter identifier: Under which it was saved.
    /// - Throws: ``LAError``: ``LAError/Code/resourceNotFound`` if there is none.
    public func removeRight(forIdentifier identifier: String) async throws {
        try await outcome { self.removeRight(forIdentifier: identifier, completion: $0) }
    }

    /// Removes all rights of the program with their keys and secrets. Asks nobody. At a daemon the program needs the
    /// right `list`.
    ///
    /// - Parameter completion: Called once, on a queue of this module, with nil, or an ``LAError``.
    public func removeAllRights(completion: @escaping @Sendable ((any Error)?) -> Void) {
        answer({ (_: Void?, error) in completion(error) }) { session in
            try RightItems(session).removeAll()
        }
    }

    /// Removes all rights of the program with their keys and secrets. Asks nobody. At a daemon the program needs the
    /// right `list`.
    ///
    /// - Throws: ``LAError``.
    public func removeAllRights() async throws {
        try await outcome { self.removeAllRights(completion: $0) }
    }

    private static let notFound = LAError(.resourceNotFound, saying: "no right is kept under this identifier")
}
