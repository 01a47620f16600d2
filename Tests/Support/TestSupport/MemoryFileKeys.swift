import Bytes
import Crypto
import Foundation
import KeychainModel
import Synchronization
import VaultInterface

/// A key source without a vault. The keys are the same in every process.
package final class MemoryFileKeys: FileKeySource {
    private let closed = Mutex<Set<FileProtectionClass>>([])
    private let generation: UInt64

    /// - Parameter generation: How often the class keys were renewed. The keys of earlier generations open files, too.
    package init(generation: UInt64 = 0) { self.generation = generation }

    package func close(_ fileClass: FileProtectionClass) {
        closed.withLock { _ = $0.insert(fileClass) }
    }

    package func open(_ fileClass: FileProtectionClass) {
        closed.withLock { _ = $0.remove(fileClass) }
    }

    private func wrappingKey(
        _ fileClass: FileProtectionClass, _ file: Data, _ generation: UInt64, making: Bool = false
    ) throws(VaultError) -> SymmetricKey {
        let isClosed = closed.withLock { $0.contains(fileClass) }
        guard !isClosed || (making && fileClass == .completeUnlessOpen) else {
            throw .interactionNotAllowed(reason: "the class is closed")
        }
        let root = SymmetricKey(data: [UInt8](repeating: 0x5A, count: 32))
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: root, salt: file, info: Data([fileClass.rawValue]) + generation.bigEndianBytes,
            outputByteCount: 32)
    }

    package func makeFileKey(for fileClass: FileProtectionClass, file: Data) throws(VaultError) -> FileKey {
        try wrap(SymmetricKey(size: .bits256), fileClass, file)
    }

    package func wrap(
        _ key: SymmetricKey, _ fileClass: FileProtectionClass, _ file: Data
    ) throws(VaultError) -> FileKey {
        let wrappingKey = try wrappingKey(fileClass, file, generation, making: true)
        do {
            let secret = try key.withUnsafeBytes { try SecretBytes(copying: $0) }
            return FileKey(key: secret, wrapped: try AES.KeyWrap.wrap(key, using: wrappingKey))
        } catch {
            throw .memoryUnavailable
        }
    }

    package func fileKey(
        for fileClass: FileProtectionClass, file: Data, wrapped: Data
    ) throws(VaultError) -> SecretBytes {
        for generation in (0...generation).reversed() {
            let wrappingKey = try wrappingKey(fileClass, file, generation)
            if let key = try? AES.KeyWrap.unwrap(wrapped, using: wrappingKey),
                let secret = try? key.withUnsafeBytes({ try SecretBytes(copying: $0) })
            {
                return secret
            }
        }
        throw .corruptVault(reason: "not the key of this file and class")
    }

    package func rewrapFileKey(
        from: FileProtectionClass, to: FileProtectionClass, file: Data, wrapped: Data
    ) throws(VaultError) -> Data {
        let key = try fileKey(for: from, file: file, wrapped: wrapped)
        return try wrap(key.withUnsafeBytes { SymmetricKey(data: $0) }, to, file).wrapped
    }
}
