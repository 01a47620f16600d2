import Bytes
import Crypto
import FoundationEssentials

/// A seal that the present class key and a former one open together.
///
/// When a vault renews its class keys, a value that also needs a password or an enrolment cannot be sealed anew,
/// because only a person has those. It keeps its ciphertext and its seal under the former class key, and the wrapped
/// key of the item is wrapped once more under the present class key. The stored form begins with
///
///     1 byte   version, 3
///     16 bytes identifier of the former keybag, under which the value was sealed
///     8 bytes  the digest of the access group under that keybag, to which the value is bound
///
/// and goes on as the former seal does, but with 48 bytes for the wrapped key.
package struct FormerSeal: Sendable, Hashable {
    /// The identifier of the keybag under which the value was sealed.
    package var keybag: UUID
    /// The digest of the access group under that keybag.
    package var group: Int64
    /// The seal as it was then.
    package var seal: Data

    package init(keybag: UUID, group: Int64, seal: Data) {
        self.keybag = keybag
        self.group = group
        self.seal = seal
    }

    private static let version: UInt8 = 3
    private static let headSize = 1 + 16 + 8
    private static let wrappedTwiceSize = 48
    private static let endSize = 12 + 16

    /// Returns whether a stored seal has this form.
    static func isForm(of stored: Data) -> Bool {
        stored.first == version && stored.count > headSize + wrappedTwiceSize + endSize
    }

    /// Returns the ``SealHeader`` in a stored seal of this form.
    static func header(in stored: Data) -> Data {
        stored.dropFirst(headSize).dropLast(wrappedTwiceSize + endSize)
    }

    /// Opens a stored seal.
    ///
    /// - Parameter classKey: The present class key.
    /// - Returns: Nil for a seal of another form, which the present class key alone opens.
    package init?(_ stored: Data, under classKey: SymmetricKey) throws(SealingError) {
        guard Self.isForm(of: stored) else { return nil }
        let bytes = [UInt8](stored)
        let wrapped = bytes.dropLast(Self.endSize).suffix(Self.wrappedTwiceSize)
        guard let inner = try? AES.KeyWrap.unwrap(Data(wrapped), using: classKey) else { throw .authenticationFailed }
        keybag = bytes[1..<17].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        group = bytes[17..<25].withUnsafeBytes { $0.bigEndian() }
        seal = Self.header(in: stored) + inner.withUnsafeBytes { Data($0) } + bytes.suffix(Self.endSize)
    }

    /// The stored form.
    ///
    /// - Parameter classKey: The present class key.
    package func stored(under classKey: SymmetricKey) throws(SealingError) -> Data {
        let inner = seal.suffix(SealedValue.sealSize)
        guard inner.count == SealedValue.sealSize, seal.count > inner.count,
            let wrapped = try? AES.KeyWrap.wrap(
                SymmetricKey(data: inner.prefix(SealedValue.sealSize - Self.endSize)), using: classKey)
        else { throw .malformed("value seal") }
        var stored = Data([Self.version])
        withUnsafeBytes(of: keybag.uuid) { stored.append(contentsOf: $0) }
        stored.append(bigEndian: group)
        return stored + seal.dropLast(SealedValue.sealSize) + wrapped + inner.suffix(Self.endSize)
    }
}
