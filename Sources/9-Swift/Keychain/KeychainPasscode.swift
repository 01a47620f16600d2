import Bytes
import Foundation
import KeychainModel
import VaultInterface

/// A passcode on its way to the vault: in memory that is kept from swap and core dumps where the system allows
/// it, and wiped when the last copy goes.
public struct KeychainPasscode: Sendable {
    let secret: SecretBytes

    /// The UTF-8 bytes of a string. The string itself stays in memory until its storage is reused; use
    /// ``init(bytes:)`` where that matters.
    ///
    /// - Throws: ``KeychainError/Code/outOfMemory``.
    public init(_ string: String) throws {
        self.init(secret: try KeychainError.translating { try SecretBytes(string) })
    }

    /// A copy of bytes, which the caller may wipe afterwards. 1 to 1,024 of them make a passcode.
    ///
    /// - Throws: ``KeychainError/Code/outOfMemory``.
    public init(bytes: some ContiguousBytes) throws {
        self.init(secret: try KeychainError.translating { try bytes.withUnsafeBytes { try SecretBytes(copying: $0) } })
    }

    private init(secret: SecretBytes) { self.secret = secret }

    /// What guessing a passcode costs, and how often it may fail.
    public struct Options: Sendable, Hashable {
        /// What each try costs: 1 to 4,096 whole MiB of memory, and 1 to 64 passes. Nil for 256 MiB or more, calibrated
        /// on this machine so that a try takes at least 250 ms. A changed passcode then keeps the memory of the one
        /// before and has at least its passes.
        public var cost: Argon2Cost?
        /// The number of wrong passcodes in a row, 1 to 255, after which everything is erased; nil for never. A changed
        /// passcode then keeps the number of the one before, and 0 takes that away.
        public var eraseAfter: Int?

        /// Options; see the properties.
        public init(cost: Argon2Cost? = nil, eraseAfter: Int? = nil) {
            self.cost = cost
            self.eraseAfter = eraseAfter
        }
    }
}
