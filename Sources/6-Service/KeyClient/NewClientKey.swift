/// A key that the vault makes or takes in.
package struct NewClientKey: Sendable {
    package enum KeyClass: UInt8, Sendable {
        case `public` = 0
        /// A pair.
        case `private` = 1
        /// A key of AES or HMAC.
        case secret = 2
    }

    package var keyClass: KeyClass
    /// Apple's number of the key's type (`kSecAttrKeyType`); 0 for HMAC.
    package var keyType: Int64
    package var sizeInBits: UInt32
    package var isInEnclave = false
    package var label = ""
    /// What the program calls it; empty for the vault's own choice.
    package var name: [UInt8] = []
    /// The key, as `SecKeyCopyExternalRepresentation` has it, or the bytes of a secret key; empty for a new one.
    package var value: [UInt8] = []

    package init(_ keyClass: KeyClass, _ keyType: Int64, sizeInBits: UInt32) {
        (self.keyClass, self.keyType, self.sizeInBits) = (keyClass, keyType, sizeInBits)
    }
}
