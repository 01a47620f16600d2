import Foundation
import KeychainModel
import KeychainServices

extension FieldKeys {
    /// Where the keys of a keyring are, and what must hold before one can be had.
    public struct Protection: Sendable {
        let control: AccessControl
        let isInEnclave: Bool

        /// In the keychain, in a class without further conditions.
        ///
        /// - Parameter accessible: One of the `kSecAttrAccessible…` strings.
        /// - Throws: ``SealedFieldsError/Code/invalidRequest`` for others.
        public static func keychain(accessible: CFString) throws(SealedFieldsError) -> Protection {
            try Protection(accessible: accessible, isInEnclave: false)
        }

        /// In the keychain, under an access control: it is asked once for each key and program, until ``FieldKeys/discard()``
        /// or, in a class that closes with the lock, until the vault is locked.
        public static func keychain(_ control: SecAccessControl) -> Protection {
            Protection(control: control.control, isInEnclave: false)
        }

        /// In the keychain, encrypted for a key of the Secure Enclave, so that opening a field needs the enclave.
        ///
        /// - Parameter accessible: One of the `kSecAttrAccessible…` strings.
        /// - Throws: ``SealedFieldsError/Code/invalidRequest`` for others.
        public static func enclave(accessible: CFString) throws(SealedFieldsError) -> Protection {
            try Protection(accessible: accessible, isInEnclave: true)
        }

        /// In the keychain, encrypted for a key of the Secure Enclave whose use is guarded by an access control, so that
        /// opening a field needs the enclave and what the control asks for.
        public static func enclave(_ control: SecAccessControl) -> Protection {
            Protection(control: control.control, isInEnclave: true)
        }

        /// In the keychain, readable while the vault is unlocked, on this machine only.
        public static let whenUnlocked = Protection(
            control: AccessControl(protection: .whenUnlockedThisDeviceOnly), isInEnclave: false)

        /// In the keychain, readable from the first unlock on, on this machine only. For background work.
        public static let afterFirstUnlock = Protection(
            control: AccessControl(protection: .afterFirstUnlockThisDeviceOnly), isInEnclave: false)

        private init(control: AccessControl, isInEnclave: Bool) {
            self.control = control
            self.isInEnclave = isInEnclave
        }

        private init(accessible: CFString, isInEnclave: Bool) throws(SealedFieldsError) {
            guard let protection = ProtectionClass(rawValue: String(accessible)) else {
                throw SealedFieldsError(
                    .invalidRequest, message: "there is no such class; use one of the kSecAttrAccessible constants")
            }
            self.init(control: AccessControl(protection: protection), isInEnclave: isInEnclave)
        }
    }
}
