/// What one try at a password costs with Argon2id (RFC 9106).
///
/// The cost of a passcode of the vault, of a password for a file and of a person's password are all given with it. Each
/// place says which costs it takes.
public struct Argon2Cost: Sendable, Hashable {
    /// Memory in KiB: Argon2's m.
    public var memoryKiB: UInt32
    /// The number of passes over that memory: Argon2's t.
    public var passes: UInt32

    /// A cost; see the properties.
    public init(memoryKiB: UInt32, passes: UInt32) { (self.memoryKiB, self.passes) = (memoryKiB, passes) }
}
