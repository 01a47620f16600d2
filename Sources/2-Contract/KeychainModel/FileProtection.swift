import Bytes
import FoundationEssentials

/// When a protected file can be read: Apple's four classes of Data Protection.
package enum FileProtectionClass: UInt8, CaseIterable, Sendable {
    /// While the vault is unlocked.
    case complete = 1
    /// Made at any time, and read while the vault is unlocked; what is open stays so when it is locked.
    case completeUnlessOpen
    /// From the first unlocking on.
    case completeUntilFirstUserAuthentication
    /// At any time.
    case none

    /// Whether the key of a file of this class is available at fewer times than that of the other class.
    package func isStricter(than other: FileProtectionClass) -> Bool { rawValue < other.rawValue }
}

/// The key of one file.
package struct FileKey: Sendable {
    /// 32 bytes.
    package let key: SecretBytes
    /// The same for keeping beside the file: only the vault opens it, for this file and its class.
    package let wrapped: Data

    package init(key: SecretBytes, wrapped: Data) {
        self.key = key
        self.wrapped = wrapped
    }

    /// The length of a file's identifier in bytes.
    package static let identifierSize = 16
    /// The length of a key in bytes.
    package static let size = 32
}
