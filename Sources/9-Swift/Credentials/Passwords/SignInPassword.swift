import Bytes
import Foundation
import VaultInterface

/// A password on its way to a hash: in memory that is kept from swap and core dumps where the system allows it, and
/// wiped when the last copy goes.
///
/// Nothing shows what is in it: not `print`, not a debugger's description.
public struct SignInPassword: Sendable {
    let secret: SecretBytes

    /// The UTF-8 bytes of a string, as they are. The string itself stays in memory until its storage is reused; use
    /// ``init(bytes:)`` where that matters.
    ///
    /// - Throws: ``CredentialsError/Code/outOfMemory``.
    public init(_ string: String) throws {
        secret = try CredentialsError.translating { try SecretBytes(string) }
    }

    /// A copy of bytes, which the caller may wipe afterwards.
    ///
    /// - Throws: ``CredentialsError/Code/outOfMemory``.
    public init(bytes: some ContiguousBytes) throws {
        secret = try CredentialsError.translating { try bytes.withUnsafeBytes { try SecretBytes(copying: $0) } }
    }

    init(_ secret: SecretBytes) { self.secret = secret }

    /// How many bytes it has.
    public var count: Int { secret.count }
    /// Whether it has none.
    public var isEmpty: Bool { secret.isEmpty }
}

extension SignInPassword: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says that it is a password, and no more.
    public var description: String { "Password" }
    /// Says that it is a password, and no more.
    public var debugDescription: String { description }
    /// Without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
