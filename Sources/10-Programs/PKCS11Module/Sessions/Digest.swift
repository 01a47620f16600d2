import CPKCS11
import PlainBytes

/// A digest that is being made.
// Safe to send: the session has the only reference, and the module's lock orders what is done with it.
final class Digest: @unchecked Sendable {
    private let state: OpaquePointer

    /// - Throws: CKR_DEVICE_MEMORY.
    init(_ hash: Mechanism.Hash) throws(TokenError) {
        guard let state = kc_digest_begin(hash.function) else { throw TokenError(.deviceMemory) }
        self.state = state
    }

    deinit { kc_digest_end(state) }

    func add(_ bytes: UnsafeRawBufferPointer) throws(TokenError) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        guard kc_digest_add(state, base, bytes.count) == 1 else { throw TokenError(.functionFailed) }
    }

    func add(_ bytes: [UInt8]) throws(TokenError) {
        guard kc_digest_add(state, bytes, bytes.count) == 1 else { throw TokenError(.functionFailed) }
    }

    func finish() throws(TokenError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 64)
        let count = Int(kc_digest_finish(state, &digest))
        guard count > 0 else { throw TokenError(.functionFailed) }
        return Array(digest.prefix(count))
    }
}
