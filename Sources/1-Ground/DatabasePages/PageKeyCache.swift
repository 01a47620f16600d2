import Bytes
import Crypto
import PreparedKeys
import Synchronization

/// The keys of recent epochs, for one thread at a time.
///
/// Deriving a key takes longer than opening a page. A database has the epochs of all programs that wrote its present
/// pages.
// Safe to share between threads: only `nextForSealing` and `key(of:)` use `slots` and `sealing`, which change, and only
// closures of `withLock` and `withLockIfAvailable` call these two. The other members never change. A `Mutex` cannot
// hold the contents, because the pages that go in and out cannot be sent.
final class PageKeyCache: @unchecked Sendable {
    /// The number of keys, a power of two. Each takes about 1 KiB.
    private static let capacity = 128
    /// Far below the 2³² messages that SP 800-38D (8.3) allows with random nonces, because processes forked from this
    /// one seal with the same epoch.
    private static let messagesPerEpoch = 1 << 28

    private let lock = Mutex(())
    private let secret: PageSecret
    private var slots = [(epoch: PageEpoch, key: PageKey)?](repeating: nil, count: capacity)
    private var sealing: (epoch: PageEpoch, key: PageKey, left: Int)?

    init(_ secret: PageSecret) { self.secret = secret }

    /// - Returns: Nil if another thread holds the lock.
    func withLockIfAvailable<Value>(
        _ body: (PageKeyCache) throws(PageError) -> Value
    ) throws(PageError) -> Value? {
        // Returns the value through a variable, because it may not be sendable.
        var value: Value?
        _ = try lock.withLockIfAvailable { _ throws(PageError) in value = try body(self) }
        return value
    }

    func withLock<Value>(_ body: (PageKeyCache) throws(PageError) -> Value) throws(PageError) -> Value? {
        var value: Value?
        try lock.withLock { _ throws(PageError) in value = try body(self) }
        return value
    }

    /// Returns the key for sealing the next page. The caller holds the lock.
    func nextForSealing() throws(PageError) -> (epoch: PageEpoch, key: PageKey) {
        if let (epoch, key, left) = sealing, left > 0 {
            sealing?.left = left - 1
            return (epoch, key)
        }
        let epoch = try PageEpoch()
        let key = secret.key(of: epoch)
        sealing = (epoch, key, Self.messagesPerEpoch - 1)
        return (epoch, key)
    }

    /// Returns the key for opening a page. The caller holds the lock.
    func key(of epoch: PageEpoch) -> PageKey {
        let slot = epoch.slot(of: Self.capacity)
        if let known = slots[slot], known.epoch == epoch { return known.key }
        let key = secret.key(of: epoch)
        slots[slot] = (epoch, key)
        return key
    }
}

/// The secret from which the keys of epochs are derived.
struct PageSecret: Sendable {
    private let key: SecretBytes
    private let database: DatabaseID
    private let isPreparing: Bool

    init(_ key: SecretBytes, _ database: DatabaseID, preparing: Bool) {
        (self.key, self.database, isPreparing) = (key, database, preparing)
    }

    func key(of epoch: PageEpoch) -> PageKey {
        var purpose = Array("page".utf8) + [UInt8](repeating: 0, count: PageEpoch.byteCount)
        purpose.withUnsafeMutableBytes { if let base = $0.baseAddress { epoch.store(to: base + 4) } }
        let key = key.derived(purpose, database)
        return PageKey(key, preparing: isPreparing)
    }
}

extension SecretBytes {
    /// Returns a key of 32 bytes for one use in a database (RFC 5869).
    func derived(_ purpose: [UInt8], _ database: DatabaseID) -> SymmetricKey {
        withUnsafeBytes {
            KeyDerivation.key(
                from: $0, salt: [UInt8](database.bytes), info: Array("swift-keychain/v1/database/".utf8) + purpose)
        }
    }
}
