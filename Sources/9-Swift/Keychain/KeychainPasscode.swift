import Bytes
import Foundation
import KeychainModel
import VaultInterface
import VaultInterface

/// A passcode on its way to the vault: in memory that is kept from swap and core dumps where the system allows
/// it, and wiped when the last copy goes.
public struct KeychainPasscode: Sendable {
    let secret: SecretBytes

    /// The UTF-8 bytes of a string. The string itself stays in memory until its storage is reused; use
    /// ``init(bytes:)`` where that matters.
    ///
    /// - Throws: ``KeychainError/Code/outOfMemory``.
    public init(_ string: String) throws(KeychainError) {
        self.init(secret: try Self.allocating { try SecretBytes(string) })
    }

    /// A copy of bytes, which the caller may wipe afterwards. 1 to 1,024 of them make a passcode.
    ///
    /// - Throws: ``KeychainError/Code/outOfMemory``.
    public init(bytes: UnsafeRawBufferPointer) throws(KeychainError) {
        self.init(secret: try Self.allocating { try SecretBytes(copying: bytes) })
    }

    private init(secret: SecretBytes) {
        self.secret = secret
    }

    private static func allocating(_ make: () throws -> SecretBytes) throws(KeychainError) -> SecretBytes {
        do {
            return try make()
        } catch {
            throw KeychainError(.memoryUnavailable)
        }
    }

    /// What guessing a passcode costs, and how often it may fail.
    public struct Options: Sendable, Hashable {
        /// Memory for each try in MiB, 1 to 4,096; nil for 256 or more, calibrated on this machine so that a try
        /// takes at least 250 ms. Goes together with ``passes``.
        public var memory: Int?
        /// How often that memory is gone over, 1 to 64.
        public var passes: Int?
        /// The number of wrong passcodes in a row, 1 to 255, after which everything is erased; nil for never.
        public var eraseAfter: Int?

        /// Options; see the properties.
        public init(memory: Int? = nil, passes: Int? = nil, eraseAfter: Int? = nil) {
            self.memory = memory
            self.passes = passes
            self.eraseAfter = eraseAfter
        }
    }
}
