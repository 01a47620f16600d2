import Access
import Bytes
import Foundation
import ProcessVault
import VaultInterface

/// The passcode and the lock of the vault that this program uses.
///
/// ```swift
/// try KeychainLock.unlock(with: KeychainPasscode(typed))
/// ```
///
/// With a vault in the program's own process the lock is the program's: others unlock for themselves. A daemon
/// has one lock for all of its clients, and grants each of these operations, or does not. Each has a
/// synchronous and an asynchronous form of the same name.
public enum KeychainLock {
    /// Which items can be read.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Never unlocked since the program or daemon started: items that are accessible 'always'.
        case beforeFirstUnlock
        /// Those, and items that are accessible 'after first unlock'.
        case locked
        /// All.
        case unlocked
    }

    /// What there is to know about the lock.
    public struct Status: Sendable, Hashable {
        /// Which items can be read.
        public var state: State
        /// Whether there is a passcode. Without one the vault is always unlocked.
        public var isPasscodeSet: Bool
        /// Whether a daemon holds the lock for all of its clients.
        public var isShared: Bool
        /// Wrong passcodes since the last right one.
        public var failedAttempts: Int
        /// How long no passcode is looked at; zero if one can be given now.
        public var retryAfter: Duration
    }

    /// The state of the lock.
    ///
    /// - Throws: ``KeychainError``.
    public static func status() throws -> Status { Status(try perform(ReadStatus())) }

    /// Sets a passcode where there is none. The items stay; those stored from now on under
    /// ``KeychainAccessibility/whenPasscodeSetThisDeviceOnly`` live as long as there is one.
    ///
    /// - Throws: ``KeychainError/Code/duplicateItem`` when there is a passcode.
    public static func setPasscode(
        _ passcode: KeychainPasscode, options: KeychainPasscode.Options = .init()
    ) throws {
        let options = try PasscodeOptions(options)
        try perform(SetPasscode(passcode.secret, options: options))
    }

    /// Puts another passcode in the place of the present one, in the same time for one item as for a million.
    ///
    /// - Throws: ``KeychainError/Code/authenticationFailed`` for a wrong passcode, and
    ///   ``KeychainError/Code/interactionNotAllowed`` while none is looked at; see ``Status/retryAfter``.
    public static func changePasscode(
        from passcode: KeychainPasscode, to next: KeychainPasscode, options: KeychainPasscode.Options = .init()
    ) throws {
        let options = try PasscodeOptions(options)
        try perform(ChangePasscode(from: passcode.secret, to: next.secret, options: options))
    }

    /// Removes the passcode, and with it for good every item that exists only while there is one.
    ///
    /// - Throws: As `changePasscode(from:to:options:)`.
    public static func removePasscode(_ passcode: KeychainPasscode) throws {
        try perform(RemovePasscode(passcode.secret))
    }

    /// Unlocks.
    ///
    /// - Throws: As `changePasscode(from:to:options:)`.
    public static func unlock(with passcode: KeychainPasscode) throws {
        try perform(UnlockVault(with: passcode.secret))
    }

    /// Locks: the keys of items that are accessible 'when unlocked' are wiped.
    ///
    /// - Parameter grace: How long to wait; an unlocking meanwhile calls it off.
    /// - Throws: ``KeychainError/Code/passcodeRequired`` when there is no passcode to unlock with again.
    public static func lock(after grace: Duration = .zero) throws {
        try perform(LockVault(after: grace))
    }

    /// Performs an operation as the owner of the whole vault, which a program with a vault of its own is. A daemon
    /// knows better and refuses those it has not granted it.
    @discardableResult
    private static func perform<Operation: UnaryOperation>(_ operation: Operation) throws -> Operation.Reply {
        try KeychainError.translating {
            var session = try VaultSession.current()
            if !session.client.accessGroups.contains(Client.everyGroup) {
                session.client.accessGroups.append(Client.everyGroup)
            }
            return try session.perform(operation)
        }
    }
}

// On threads of this module's own, since deriving a key from a passcode takes its time.
extension KeychainLock {
    /// See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public static func setPasscode(
        _ passcode: KeychainPasscode, options: KeychainPasscode.Options = .init()
    ) async throws {
        try await inBackground { try setPasscode(passcode, options: options) }
    }

    /// See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public static func changePasscode(
        from passcode: KeychainPasscode, to next: KeychainPasscode, options: KeychainPasscode.Options = .init()
    ) async throws {
        try await inBackground {
            try changePasscode(from: passcode, to: next, options: options)
        }
    }

    /// See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public static func removePasscode(_ passcode: KeychainPasscode) async throws {
        try await inBackground { try removePasscode(passcode) }
    }

    /// See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public static func unlock(with passcode: KeychainPasscode) async throws {
        try await inBackground { try unlock(with: passcode) }
    }

    /// - Parameter work: Runs with the vault of the calling task.
    private static func inBackground(
        _ work: @escaping @Sendable () throws -> Void
    ) async throws {
        let provider = VaultSession.override
        try await BlockingThreads.shared.run {
            do {
                try VaultSession.$override.withValue(provider) { try work() }
            } catch {
                throw error as? KeychainError ?? .inputOutput("\(error)")
            }
        }
    }
}

extension KeychainLock.Status {
    fileprivate init(_ status: VaultStatus) {
        state =
            switch status.lockState {
            case .beforeFirstUnlock: .beforeFirstUnlock
            case .locked: .locked
            case .unlocked: .unlocked
            }
        isPasscodeSet = status.isPasscodeSet
        isShared = status.isShared
        failedAttempts = status.failedAttempts
        retryAfter = .seconds(status.retryAfter)
    }
}

extension PasscodeOptions {
    fileprivate init(_ options: KeychainPasscode.Options) throws {
        var cost = Cost.interactive
        if let given = options.cost {
            guard given.memoryKiB.isMultiple(of: 1024) else {
                throw KeychainError.invalidRequest(
                    "the memory of a passcode is whole MiB; give a multiple of 1,024 KiB")
            }
            cost = .explicit(memoryMiB: Int(given.memoryKiB / 1024), passes: Int(given.passes))
        }
        self.init(cost: cost, eraseAfter: options.eraseAfter)
    }
}
