import Crypto
import Foundation
import KeychainModel

/// A sealed value: what opens it, and the ciphertext apart from it, so that a listing need not read
/// large values.
package struct SealedValue: Sendable, Hashable {
    /// The item's own key wrapped by the class key (40 bytes, RFC 3394), nonce (12), tag (16).
    package var seal: Data
    package var ciphertext: Data

    package init(seal: Data, ciphertext: Data) {
        self.seal = seal
        self.ciphertext = ciphertext
    }

    /// An item without a value.
    package static let none = SealedValue(seal: Data(), ciphertext: Data())

    /// The length of ``seal`` in bytes, for an item that has a value.
    package static let sealSize = 40 + 12 + 16
}

/// Seals and opens the two halves of an item: AES-256-GCM (NIST SP 800-38D) with random 96-bit nonces.
package enum ItemSealer {
    /// Seals `value` under a fresh key of its own, which `classKey` wraps.
    package static func seal(
        value: Data, accessControl: AccessControl, binding: RowBinding, classKey: SymmetricKey
    ) throws(SealingError) -> SealedValue {
        let itemKey = SymmetricKey(size: .bits256)
        do {
            var seal = try AES.KeyWrap.wrap(itemKey, using: classKey)
            let box = try AES.GCM.seal(
                value, using: itemKey, authenticating: binding.valueContext(accessControl: accessControl))
            seal.append(contentsOf: box.nonce)
            seal.append(box.tag)
            return SealedValue(seal: seal, ciphertext: box.ciphertext)
        } catch {
            throw .malformed("the value cannot be sealed")
        }
    }

    package static func open(
        _ sealed: SealedValue, accessControl: AccessControl, binding: RowBinding, classKey: SymmetricKey
    ) throws(SealingError) -> Data {
        guard sealed.seal.count == SealedValue.sealSize else { throw .malformed("value seal") }
        let seal = sealed.seal
        let start = seal.startIndex
        do {
            let itemKey = try AES.KeyWrap.unwrap(seal[start..<(start + 40)], using: classKey)
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: seal[(start + 40)..<(start + 52)]), ciphertext: sealed.ciphertext,
                tag: seal[(start + 52)...])
            return try AES.GCM.open(
                box, using: itemKey, authenticating: binding.valueContext(accessControl: accessControl))
        } catch {
            throw .authenticationFailed
        }
    }

    /// Seals the encoded attributes: nonce (12), ciphertext, tag (16).
    package static func seal(
        metadata: Data, valueSeal: Data, binding: RowBinding, metadataKey: SymmetricKey
    ) throws(SealingError) -> Data {
        do {
            let box = try AES.GCM.seal(
                metadata, using: metadataKey, authenticating: binding.metadataContext(valueSeal: valueSeal))
            guard let combined = box.combined else { throw SealingError.malformed("nonce") }
            return combined
        } catch {
            throw .malformed("the attributes cannot be sealed")
        }
    }

    package static func open(
        metadata: Data, valueSeal: Data, binding: RowBinding, metadataKey: SymmetricKey
    ) throws(SealingError) -> Data {
        do {
            let box = try AES.GCM.SealedBox(combined: metadata)
            return try AES.GCM.open(
                box, using: metadataKey, authenticating: binding.metadataContext(valueSeal: valueSeal))
        } catch {
            throw .authenticationFailed
        }
    }
}
