import Bytes
import FoundationEssentials
import KeychainModel
import StoredKeys

/// What the keychain's list says of a database's key: a version, how it is used, what reading it takes beside its
/// class, and the enclave's key that it is encrypted for.
package struct KeyNote: Sendable {
    private static let byteCount = 10

    let staysOpen: Bool
    /// What reading it takes.
    let flags: AccessControl.Flags?
    package let enclaveKey: Data?

    init(staysOpen: Bool, flags: AccessControl.Flags?) {
        (self.staysOpen, self.flags, enclaveKey) = (staysOpen, flags, nil)
    }

    /// Nil for what a later version wrote.
    package init?(_ generic: Data) {
        guard let reference = StoredKeyReference(generic, noteCount: Self.byteCount), reference.note.first == 1,
            reference.note[1] & ~3 == 0
        else { return nil }
        let bits = reference.note[1]
        staysOpen = bits & 1 != 0
        let raw = UInt64(bigEndianBytes: reference.note.dropFirst(2))
        flags = bits & 2 != 0 ? AccessControl.Flags(rawValue: raw) : nil
        enclaveKey = reference.enclaveKey
    }

    /// Without the enclave's key.
    var bytes: Data {
        let bits: UInt8 = (staysOpen ? 1 : 0) | (flags != nil ? 2 : 0)
        return Data([1, bits]) + (flags?.rawValue ?? 0).bigEndianBytes
    }

    var reference: StoredKeyReference { StoredKeyReference(note: bytes, enclaveKey: enclaveKey) }

    /// What the key is under.
    func control(_ protection: ProtectionClass) -> AccessControl {
        AccessControl(protection: protection, flags: flags)
    }
}
