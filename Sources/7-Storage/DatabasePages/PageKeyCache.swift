import Crypto
import FoundationEssentials
import KeychainModel
import Synchronization

/// The keys of some epochs, for one thread at a time.
///
/// Deriving one takes longer than opening a page. A database has the epochs of all programs that wrote pages it still has.
// Safe to share between threads: `slots` and `sealing`, which change, are touched only by `nextForSealing` and `key(of:)`, and these
// are called only in the closures of `withLock` and `withLockIfAvailable`; the others never change. A `Mutex` of the contents does not do, since
// the pages that go in and out cannot be sent.
final class PageKeyCache: @unchecked Sendable {
    /// Each takes about a KiB. A power of two.
    private static let capacity = 128
    /// Far below the 2³² that SP 800-38D (8.3) allows with random nonces, since processes forked from this one seal under the
    /// same epoch.
    private static let messagesPerEpoch = 1 << 28

    private let lock = Mutex(())
    private let secret: PageSecret
    private var slots = [(epoch: PageEpoch, key: any PageKey)?](repeating: nil, count: capacity)
    private var sealing: (epoch: PageEpoch, key: any PageKey, left: Int)?

    init(_ secret: PageSecret) { self.secret = secret }

    /// - Returns: Nil if another thread is using this.
    func withLockIfAvailable<Value>(
        _ body: (PageKeyCache) throws(PageError) -> Value
    ) throws(PageError) -> Value? {
        // The value leaves through a variable: it need not be one that can be sent.
        var value: Value?
        _ = try lock.withLockIfAvailable { _ throws(PageError) in value = try body(self) }
        return value
    }

    func withLock<Value>(_ body: (PageKeyCache) throws(PageError) -> Value) throws(PageError) -> Value? {
        var value: Value?
        try lock.withLock { _ throws(PageError) in value = try body(self) }
        return value
    }

    /// The key to seal the next page with. Only while the lock is held.
    func nextForSealing() throws(PageError) -> (epoch: PageEpoch, key: any PageKey) {
        if let (epoch, key, left) = sealing, left > 0 {
            sealing?.left = left - 1
            return (epoch, key)
        }
        let epoch = try PageEpoch()
        let key = secret.key(of: epoch)
        sealing = (epoch, key, Self.messagesPerEpoch - 1)
        return (epoch, key)
    }

    /// The key to open a page with. Only while the lock is held.
    func key(of epoch: PageEpoch) -> any PageKey {
        let slot = epoch.slot(of: Self.capacity)
        if let known = slots[slot], known.epoch == epoch { return known.key }
        let key = secret.key(of: epoch)
        slots[slot] = (epoch, key)
        return key
    }
}

/// What the keys of epochs are derived from.
struct PageSecret: Sendable {
    private let key: SecretBytes
    private let database: DatabaseID
    private let isPreparing: Bool

    init(_ key: SecretBytes, _ database: DatabaseID, preparing: Bool) {
        (self.key, self.database, isPreparing) = (key, database, preparing)
    }

    func key(of epoch: PageEpoch) -> any PageKey {
        var purpose = Array("page".utf8) + [UInt8](repeating: 0, count: PageEpoch.byteCount)
        purpose.withUnsafeMutableBytes { if let base = $0.baseAddress { epoch.store(to: base + 4) } }
        let key = key.derived(purpose, database)
        if isPreparing, let key = PreparedKey(key) { return key }
        return SwiftCryptoPageKey(key)
    }
}

extension SecretBytes {
    /// A key of 32 bytes for one use in a database (RFC 5869).
    func derived(_ purpose: [UInt8], _ database: DatabaseID) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: withUnsafeBytes { SymmetricKey(data: $0) }, salt: database.bytes,
            info: Array("swift-keychain/v1/database/".utf8) + purpose, outputByteCount: 32)
    }
}
