import Bytes
import Crypto
import FoundationEssentials
import PreparedKeys

/// When a key of a circle may be used: like the class of the items under it.
package enum KeyClass: UInt8, Sendable, CaseIterable {
    /// While the vault is unlocked.
    case whileUnlocked = 1
    /// From the first unlocking on.
    case afterFirstUnlock = 2
}

/// One of the two keys of a view in a generation, and what is derived from it.
package struct ViewKey: Sendable {
    /// In bytes.
    package static let size = 32

    package let secret: SymmetricKey
    /// Seals records.
    let records: SymmetricKey
    /// Makes the names of items.
    private let names: PreparedHMAC
    /// Seals the entries of the view's chain.
    let entries: SymmetricKey
    /// Says which key it is, and nothing more. AES-GCM opens a text under more than one key (Dodis and others, "Fast
    /// Message Franking", 2018); a key with the right commitment is the right one.
    package let commitment: Data

    /// A new key.
    package init() { self.init(secret: SymmetricKey(size: .bits256)) }

    /// - Parameter secret: Of ``size`` bytes.
    package init(secret: SymmetricKey) {
        self.secret = secret
        records = CircleForm.key(from: secret, "view/records")
        names = PreparedHMAC(CircleForm.key(from: secret, "view/names"))
        entries = CircleForm.key(from: secret, "view/entries")
        commitment = CircleForm.key(from: secret, "view/commitment").withUnsafeBytes { Data($0) }
    }

    /// Returns the name of an item in the view: the same at each member, and without the key it says nothing.
    ///
    /// - Parameter primaryKey: From ``ItemPayload/primaryKey(of:)``.
    package func name(ofPrimaryKey primaryKey: [UInt8]) -> Identifier16 {
        names.authenticate(primaryKey) { Identifier16(digest: $0) }
    }
}

/// The key that all members of a circle have. It seals what all of them may read: names of machines and views.
package struct CircleKey: Sendable {
    /// In bytes.
    package static let size = 32

    package let secret: SymmetricKey
    /// What the first entry of the log says of it; see ``ViewKey/commitment``.
    package let commitment: Data
    private let names: SymmetricKey
    /// Seals what members say of how far they have got.
    let heads: SymmetricKey

    /// A new key.
    package init() { self.init(secret: SymmetricKey(size: .bits256)) }

    /// - Parameter secret: Of ``size`` bytes.
    package init(secret: SymmetricKey) {
        self.secret = secret
        names = CircleForm.key(from: secret, "names")
        heads = CircleForm.key(from: secret, "heads")
        commitment = CircleForm.key(from: secret, "commitment").withUnsafeBytes { Data($0) }
    }

    /// Seals bytes for the members of a circle: AES-256-GCM with a random nonce, as nonce ‖ text ‖ tag.
    package func seal(_ text: Data, in circle: Identifier16) throws(CircleError) -> Data {
        try SealedText.seal(text, under: names, binding: CircleForm.label("name") + circle.bytes)
    }

    package func open(_ sealed: Data, in circle: Identifier16) throws(CircleError) -> Data {
        try SealedText.open(sealed, under: names, binding: CircleForm.label("name") + circle.bytes, of: "name")
    }
}

/// AES-256-GCM with a random nonce: nonce ‖ text ‖ tag. For keys that seal few texts.
package enum SealedText {
    /// - Parameter binding: The additional data.
    package static func seal(_ text: Data, under key: SymmetricKey, binding: Data) throws(CircleError) -> Data {
        // Sealing fails for a key of a wrong size only.
        guard let sealed = try? AES.GCM.seal(text, using: key, authenticating: binding).combined else {
            throw .malformed("key")
        }
        return sealed
    }

    /// - Throws: ``CircleError/forged(_:)`` if it was sealed under another key, or for another binding.
    package static func open(
        _ sealed: Data, under key: SymmetricKey, binding: Data, of what: String
    ) throws(CircleError) -> Data {
        guard let box = try? AES.GCM.SealedBox(combined: sealed) else { throw .malformed(what) }
        guard let text = try? AES.GCM.open(box, using: key, authenticating: binding) else { throw .forged(what) }
        return text
    }
}
