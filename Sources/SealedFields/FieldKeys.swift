import Crypto
import Foundation
import KeychainModel
import Synchronization
import VaultInterface

/// The keys that the fields of one or several databases are sealed with, kept in the keychain: a keyring.
///
/// ```swift
/// let keys = FieldKeys("com.example.notes")
/// let sealing = FieldSealing(database: "notes", keys: keys)
/// ```
///
/// A keyring has a key for each *generation*. New values are sealed with the newest; older ones are there to open what
/// they sealed, until ``FieldRotation`` has sealed it anew and ``removeGeneration(_:checking:)`` removes the key. The first
/// generation is made when the first value is sealed.
///
/// Keys stay in memory, which is wiped, until ``discard()``, and those of classes that close with the vault until it is locked.
public final class FieldKeys: Sendable {
    /// The name under which the keychain has the keys; by custom in reverse-domain form.
    public let name: String
    /// Where new generations are, and what must hold before one can be used.
    public let protection: Protection

    let items: KeyringItems
    private let state = Mutex(State())
    /// Held while keys are read, so that a person is asked once for several threads.
    private let reading = Mutex(())

    private struct State {
        var keys: [FieldKeyID: FieldKey] = [:]
        var current: FieldKey?
        /// When `current` was last seen to be the newest, in seconds.
        var seen = Int.min
        var digest: SymmetricKey?
        /// Counts what was discarded: a key that was read before is not kept.
        var epoch = 0
        var observation: LockObservation?
    }

    /// How long a program may go on with a generation after another one added a newer, in seconds.
    static let refreshInterval = 30

    /// The keyring of that name; nothing is read or made before it is used.
    ///
    /// - Parameters:
    ///   - name: See ``name``.
    ///   - protection: Where new generations are; those that exist stay as they are.
    ///   - accessGroup: The access group; nil for the program's first.
    ///   - prompt: What a person is told who is asked for a key; nil for the vault's own words.
    public init(
        _ name: String, protection: Protection = .whenUnlocked, accessGroup: String? = nil, prompt: String? = nil
    ) {
        self.name = name
        self.protection = protection
        items = KeyringItems(name: name, accessGroup: accessGroup, prompt: prompt)
    }

    // MARK: Keys for use

    /// The key that new values are sealed with; the first is made here.
    func sealingKey() throws(SealedFieldsError) -> FieldKey {
        let now = Self.seconds()
        let known = state.withLock { $0.seen > now - Self.refreshInterval ? $0.current : nil }
        if let known { return known }
        return try whileReading { (epoch) throws(SealedFieldsError) in
            let newest: Generation
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

    /// The key with an identifier that a value has.
    func openingKey(_ id: FieldKeyID, for subject: String?) throws(SealedFieldsError) -> FieldKey {
        if let known = state.withLock({ $0.keys[id] }) { return known }
        return try whileReading { (epoch) throws(SealedFieldsError) in
            // Another thread may have read it in the meantime.
            if let known = state.withLock({ $0.keys[id] }) { return known }
            guard let generation = try generations().last(where: { $0.key.id == id }) else {
                throw SealedFieldsError(
                    .unknownKey, subject: subject,
                    message: "the value is sealed with key \(id), which the keyring \(name) does not have")
            }
            return try key(generation.key, epoch)
        }
    }

    /// The key that digests are made with; made once, and not rotated.
    func digestKey() throws(SealedFieldsError) -> SymmetricKey {
        if let known = state.withLock({ $0.digest }) { return known }
        return try whileReading { (epoch) throws(SealedFieldsError) in
            if let known = state.withLock({ $0.digest }) { return known }
            var item = try items.list().first { $0.account == KeyringItems.digestAccount }
            if item == nil {
                _ = try store(KeyringItems.digestAccount)
                item = try items.list().first { $0.account == KeyringItems.digestAccount }
            }
            guard let reference = item.flatMap({ KeyReference($0.generic) }) else {
                throw items.damaged("the key of digests is not where it was stored")
            }
            let key = try read(reference)
            state.withLock { if $0.epoch == epoch { $0.digest = key } }
            return key
        }
    }

    private func key(_ reference: KeyReference, _ epoch: Int) throws(SealedFieldsError) -> FieldKey {
        if let known = state.withLock({ $0.keys[reference.id] }) { return known }
        let key = FieldKey(reference.id, secret: try read(reference))
        state.withLock { if $0.epoch == epoch { $0.keys[reference.id] = key } }
        return key
    }

    private func whileReading<Result>(
        _ body: (_ epoch: Int) throws(SealedFieldsError) -> Result
    ) throws(SealedFieldsError) -> Result {
        try reading.withLock { _ -> Swift.Result<Result, SealedFieldsError> in
            do throws(SealedFieldsError) {
                try observeLock()
                return .success(try body(state.withLock { $0.epoch }))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    private static func seconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.tv_sec
    }

    // MARK: What the keychain has

    /// Reads a key, which may ask a person.
    private func read(_ reference: KeyReference) throws(SealedFieldsError) -> SymmetricKey {
        guard var value = try items.key(reference.id) else {
            throw SealedFieldsError(
                .unknownKey, subject: name, message: "key \(reference.id) was removed; restore it from a backup")
        }
        if let label = reference.enclaveKey { value = try items.decrypt(value, with: label) }
        defer { value.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        // The identifier stands before the key, so that one is not taken for another.
        guard value.count == 40, value.prefix(8) == reference.id.data else {
            throw items.damaged("what the keychain has under \(reference.id) is another key, or none")
        }
        return value.withUnsafeBytes { SymmetricKey(data: UnsafeRawBufferPointer(rebasing: $0[8...])) }
    }

    /// Makes a key and puts it on the list.
    ///
    /// - Returns: False if there is one under the account already; then none is made.
    func store(_ account: String) throws(SealedFieldsError) -> Bool {
        var value = Data(count: 40)
        defer { value.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        var generator = SystemRandomNumberGenerator()
        value.withUnsafeMutableBytes { bytes in
            for place in stride(from: 0, to: 40, by: 8) {
                bytes.storeBytes(of: generator.next(), toByteOffset: place, as: UInt64.self)
            }
        }
        guard var reference = KeyReference(value.prefix(8)) else { throw items.damaged("no key was made") }
        if protection.isInEnclave {
            let (publicKey, label) = try items.makeEnclaveKey(protection.control)
            reference.enclaveKey = label
            let encrypted = try items.encrypt(value, for: publicKey)
            // The use of the enclave's key is guarded, so the reading of what is encrypted for it need not be.
            _ = try items.addKey(reference.id, value: encrypted, protection: protection.control, isGuarded: false)
        } else {
            _ = try items.addKey(reference.id, value: value, protection: protection.control, isGuarded: true)
        }
        // Last, so that what is on the list is there, whenever the program ends.
        let isAdded = try items.add(account, generic: reference.encoded, protection: protection.control)
        if !isAdded { try items.removeKey(reference.id, enclaveKey: reference.enclaveKey) }
        return isAdded
    }

    private func addFirst() throws(SealedFieldsError) -> Generation {
        _ = try store(Generation.account(1))
        guard let first = try generations().last else {
            throw items.damaged("the key is not where it was stored")
        }
        return first
    }

    // MARK: Memory

    /// Forgets the keys in memory, and wipes them; the next value needs the keychain again, and what it asks for.
    public func discard() {
        state.withLock { state in
            state.keys = [:]
            state.current = nil
            state.seen = .min
            state.digest = nil
            state.epoch += 1
        }
    }

    private func observeLock() throws(SealedFieldsError) {
        guard protection.closesWithLock, state.withLock({ $0.observation == nil }) else { return }
        let session = try items.vaultSession()
        let observation = session.vault.observeLocking { [weak self] in self?.discard() }
        state.withLock { $0.observation = observation }
    }

    /// Has the next value look for the newest generation.
    func lookAgain() {
        state.withLock { $0.seen = .min }
    }

    /// Removes all keys of the keyring from the keychain and from memory: no value that they sealed can be opened again.
    ///
    /// - Throws: ``SealedFieldsError``.
    public func destroy() throws(SealedFieldsError) {
        try items.removeAll()
        discard()
    }
}

/// What the list says of a key.
struct KeyReference: Sendable, Hashable {
    let id: FieldKeyID
    /// The hash of the public half of the enclave's key that it is encrypted for.
    var enclaveKey: Data?

    /// Identifier ‖ hash.
    init?(_ encoded: Data) {
        guard encoded.count >= 8 else { return nil }
        id = FieldKeyID(number: encoded.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) })
        enclaveKey = encoded.count > 8 ? Data(encoded.dropFirst(8)) : nil
    }

    var encoded: Data { id.data + (enclaveKey ?? Data()) }
}
