import Bytes

/// Argon2id (RFC 9106) for modules that may import no C library.
///
/// What does it is linked into every program and found by its name, as the vault's engine is.
package protocol PasswordStretching {
    /// 32 bytes from a password and a salt of 16: version 1.3, one lane.
    static func stretch(
        _ password: SecretBytes, salt: [UInt8], memoryKiB: UInt32, passes: UInt32
    ) throws(VaultMemoryError) -> SecretBytes

    /// What a derivation should cost on this machine.
    static func suitableCost() throws(VaultMemoryError) -> (memoryKiB: UInt32, passes: UInt32)
}
