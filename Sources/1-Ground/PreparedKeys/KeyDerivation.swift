import Bytes
import CAEAD
import Crypto

/// HKDF-SHA256 (RFC 5869), which leaves nothing of the keys in memory that it has freed.
///
/// swift-crypto's own interface leaves copies. It is also generic, so that its first use in a process takes longer than
/// the derivation.
package enum KeyDerivation {
    /// Derives a key of `count` bytes, at most 8,160.
    ///
    /// - Parameters:
    ///   - material: The key material.
    ///   - salt: Nothing for RFC 5869's default of 32 zeros.
    ///   - preparing: False for swift-crypto's own interface, which otherwise is used where swift-crypto's BoringSSL
    ///     cannot be reached.
    package static func key(
        from material: UnsafeRawBufferPointer, salt: [UInt8] = [], info: [UInt8], count: Int = 32,
        preparing: Bool = true
    ) -> SymmetricKey {
        let made = withUnsafeTemporaryAllocation(byteCount: max(1, count), alignment: 8) { room -> SymmetricKey? in
            defer { SecretBytes.wipe(room) }
            let isDerived = salt.withUnsafeBytes { salt in
                info.withUnsafeBytes { info in
                    guard preparing, let source = material.baseAddress, let target = room.baseAddress else {
                        return false
                    }
                    // An empty array may have no address; nothing is read there.
                    return hkdf_derive(
                        source, material.count, salt.baseAddress ?? source, salt.count, info.baseAddress ?? source,
                        info.count, target, count)
                }
            }
            return isDerived ? SymmetricKey(data: UnsafeRawBufferPointer(rebasing: room[..<count])) : nil
        }
        if let made { return made }
        let key = SymmetricKey(data: material)
        return salt.isEmpty
            ? HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: info, outputByteCount: count)
            : HKDF<SHA256>.deriveKey(inputKeyMaterial: key, salt: salt, info: info, outputByteCount: count)
    }
}
