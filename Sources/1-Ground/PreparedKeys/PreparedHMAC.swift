import CAEAD
import Crypto

/// HMAC-SHA256 (RFC 2104) under one key, for many short messages.
// Safe to share between threads: both members are constants. BoringSSL copies its key for each message and does not
// write to it, and of swift-crypto's each call changes a copy of its own.
package final class PreparedHMAC: @unchecked Sendable {
    /// The length of a code.
    package static let size = 32

    private let key: OpaquePointer?
    /// The same of swift-crypto's own interface, for where the other cannot be made.
    private let keyed: HMAC<SHA256>?

    /// - Parameter preparing: False for swift-crypto's own interface, which otherwise is used where swift-crypto's
    ///   BoringSSL cannot be reached.
    package init(_ key: SymmetricKey, preparing: Bool = true) {
        let made = key.withUnsafeBytes { bytes in
            preparing ? bytes.baseAddress.flatMap { hmac_key_prepare($0, bytes.count) } : nil
        }
        self.key = made
        keyed = made == nil ? HMAC(key: key) : nil
    }

    deinit {
        if let key { hmac_key_free(key) }
    }

    /// Runs `body` with the code of a message, ``size`` bytes.
    package func authenticate<Result>(_ message: [UInt8], _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if var code = keyed {
            code.update(data: message)
            return code.finalize().withUnsafeBytes(body)
        }
        return withUnsafeTemporaryAllocation(byteCount: Self.size, alignment: 8) { code in
            let isMade = message.withUnsafeBytes { bytes in
                // An empty array may have no address. BoringSSL wants one and reads nothing there.
                guard let key, let target = code.baseAddress else { return false }
                return hmac_authenticate(key, bytes.baseAddress ?? UnsafeRawPointer(target), bytes.count, target)
            }
            // False only without memory for 400 bytes, where an allocation of Swift's would end the process as well.
            // With a wrong digest, a search would find another item.
            precondition(isMade, "no memory for a digest")
            return body(UnsafeRawBufferPointer(code))
        }
    }
}
