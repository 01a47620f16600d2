import Bytes
import Crypto
import Foundation
import KeychainModel
import StoredKeys
import Synchronization
import VaultInterface

/// The keys of a keyring in one keychain, and the copies of them in memory.
final class Keyring: Sendable {
    let protection: StoredKeyProtection
    let items: KeyringItems
    private let state = Mutex(State())
    /// Held while keys are read, so that a person is asked only once when several threads need a key.
    private let reading = Mutex(())

    private struct State {
        var keys: [FieldKeyID: FieldKey] = [:]
        var current: FieldKey?
        /// When `current` was last seen to be the newest, in seconds.
        var seen = Int.min
        var digest: SymmetricKey?
        /// Counts the calls that discard keys. A key that was read before such a call is not kept.
        var epoch = 0
        var observation: LockObservation?
        /// Whether the class of at least one of the keys closes when the vault is locked.
        var closesWithLock = false
    }

    /// How long a program may still use a generation after another program added a newer one, in seconds.
    static let refreshInterval = 30

    init(_ protection: StoredKeyProtection, _ items: KeyringItems) {
        self.protection = protection
        self.items = items
    }

    // MARK: Keys for use

    /// The key that seals new values. The first key is made here.
    func sealingKey() throws -> FieldKey {
        let now = Self.seconds()
        let known = state.withLock { $0.seen > now - Self.refreshInterval ? $0.current : nil }
        if let known { return known }
        return try whileReading { epoch in
            let newest: FieldKeys.Generation
            if let found = try generations().last { newest = found } else { newest = try addFirst() }
            let key = try key(newest.key, epoch)
            state.withLock { state in
                guard state.epoch == epoch else { return }
                state.current = key
                state.seen = now
            }
            return key
        }
    }

    /// The key with the identifier that a value names.
    ///
    /// - Parameter subject: What the value is, for an error.
    func openingKey(
        _ id: FieldKeyID, for subject: @autoclosure () -> String?
    ) throws -> FieldKey {
        let known = state.withLock { state -> FieldKey? in
            // Most values are sealed with the newest key.
            if let current = state.current, current.id == id { return current }
            return state.keys[id]
        }
        if let known { return known }
        let subject = subject()
        return try whileReading { epoch in
            // Another thread may have read it in the meantime.
            if let known = state.withLock({ $0.keys[id] }) { return known }
            guard let generation = try generations().last(where: { $0.key.id == id }) else {
                throw SealedFieldsError(
                    .unknownKey, subject: subject,
                    message: "the value is sealed with key \(id), which the keyring \(items.name) does not have")
            }
            return try key(generation.key, epoch)
        }
    }

    /// The key for digests. It is made once and never rotated.
    func digestKey() throws -> SymmetricKey {
        if let known = state.withLock({ $0.digest }) { return known }
        return try whileReading { epoch in
            if let known = state.withLock({ $0.digest }) { return known }
            var item = try list().first { $0.account == KeyringItems.digestAccount }
            if item == nil {
                _ = try store(KeyringItems.digestAccount)
                item = try list().first { $0.account == KeyringItems.digestAccount }
            }
            guard let reference = item.flatMap({ KeyReference($0.generic) }) else {
                throw items.damaged("the key of digests is not where it was stored")
            }
            let key = try read(reference)
            state.withLock { if $0.epoch == epoch { $0.digest = key } }
            return key
        }
    }

    private func key(_ reference: KeyReference, _ epoch: Int) throws -> FieldKey {
        if let known = state.withLock({ $0.keys[reference.id] }) { return known }
        let key = FieldKey(reference.id, secret: try read(reference))
        state.withLock { if $0.epoch == epoch { $0.keys[reference.id] = key } }
        return key
    }

    private func whileReading<Result>(
        _ body: (_ epoch: Int) throws -> Result
    ) throws -> Result {
        try reading.withLock { _ in
            try observeLock()
            return try body(state.withLock { $0.epoch })
        }
    }

    private static func seconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec
    }

    // MARK: What the keychain has

    /// Reads a key, which may ask a person.
    private func read(_ reference: KeyReference) throws -> SymmetricKey {
        guard var value = try items.key(reference) else {
            throw SealedFieldsError(
                .unknownKey, subject: items.name, message: "key \(reference.id) was removed; restore it from a backup")
        }
        defer { value.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        // The identifier stands before the key, so that one key cannot be mistaken for another.
        guard value.count == 40, value.prefix(8) == reference.id.data else {
            throw items.damaged("what the keychain has under \(reference.id) is another key, or none")
        }
        return value.withUnsafeBytes { SymmetricKey(data: UnsafeRawBufferPointer(rebasing: $0[8...])) }
    }

    /// Makes a key and puts it on the list.
    ///
    /// - Returns: False if a key already exists under the account. Then none is made.
    func store(_ account: String) throws -> Bool {
        var value = Data(count: 40)
        defer { value.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        var generator = SystemRandomNumberGenerator()
        value.withUnsafeMutableBytes { bytes in
            for place in stride(from: 0, to: 40, by: 8) {
                bytes.storeBytes(of: generator.next(), toByteOffset: place, as: UInt64.self)
            }
        }
        guard let reference = KeyReference(value.prefix(8)) else { throw items.damaged("no key was made") }
        return try items.store(reference.id, value, as: account, protection)
    }

    private func addFirst() throws -> FieldKeys.Generation {
        _ = try store(FieldKeys.Generation.account(1))
        guard let first = try generations().last else {
            throw items.damaged("the key is not where it was stored")
        }
        return first
    }

    // MARK: Memory

    /// Removes the keys from memory and wipes them.
    func discard() {
        state.withLock { state in
            state.keys = [:]
            state.current = nil
            state.seen = .min
            state.digest = nil
            state.epoch += 1
        }
    }

    private func observeLock() throws {
        guard state.withLock({ $0.observation == nil }) else { return }
        let session = try items.vaultSession()
        let observation = session.vault.observeLocking { [weak self] in self?.vaultWasLocked() }
        state.withLock { $0.observation = observation }
    }

    private func vaultWasLocked() {
        if state.withLock({ $0.closesWithLock }) { discard() }
    }

    /// Makes the next value look for the newest generation.
    func lookAgain() {
        state.withLock { $0.seen = .min }
    }

    // MARK: The list

    /// The items on the list. The class of each item is the class of its key, also if this program gives new keys
    /// another class.
    private func list() throws -> [KeyringItems.Item] {
        let found = try items.list()
        if found.contains(where: \.closesWithLock) { state.withLock { $0.closesWithLock = true } }
        return found
    }

    /// The generations, oldest first.
    func generations() throws -> [FieldKeys.Generation] {
        try list().compactMap(FieldKeys.Generation.init).sorted { $0.id < $1.id }
    }

    /// The names of all databases that have used the keyring.
    func databases() throws -> [String] {
        try items.list().map(\.account).filter { $0.hasPrefix(KeyringItems.databasePrefix) }
            .map { String($0.dropFirst(KeyringItems.databasePrefix.count)) }
    }

    /// Records that a database uses the keyring, before the first value is sealed.
    func note(database: String) throws {
        if try databases().contains(database) { return }
        try items.add(KeyringItems.databasePrefix + database, protection: protection.control)
    }
}

/// The list's entry for a key.
struct KeyReference: Sendable, Hashable {
    let id: FieldKeyID
    /// The hash of the public half of the enclave key that it is encrypted for.
    var enclaveKey: Data?

    /// Identifier ‖ hash.
    init?(_ encoded: Data) {
        guard encoded.count >= 8 else { return nil }
        id = FieldKeyID(number: UInt64(bigEndianBytes: encoded.prefix(8)))
        enclaveKey = encoded.count > 8 ? Data(encoded.dropFirst(8)) : nil
    }

    var encoded: Data { id.data + (enclaveKey ?? Data()) }
}
