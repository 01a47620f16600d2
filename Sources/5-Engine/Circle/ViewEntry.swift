import Bytes
import Crypto
import FoundationEssentials
import Frames

/// An entry of a view's chain: which keys the view has in a generation, and which members hold them. Only those read
/// it: others learn neither the name nor the holders of a view.
///
///     offset  bytes  field
///          0      8  "SKVIEWEN"
///          8      1  format, 1
///          9     16  circle
///         25     16  view
///         41      4  generation of the keys
///         45      4  number of the entry in the generation
///         49      4  member that signed it
///         53         nonce (12) ‖ sealed body ‖ tag (16)
///        end     64  signature by the member's signing key
///
/// The body is sealed with AES-256-GCM under the key for entries, which is derived from the view's key for the time
/// after the first unlocking; the additional data is "swift-keychain/circle/v1/view-entry" ‖ the first 53 bytes. The
/// signature is over "swift-keychain/circle/v1/view-entry-signature" ‖ the first 53 bytes ‖ SHA-256(what is sealed).
///
///     body: SHA-256 of the entry before (32), zeros in the first; time (8); commitments of the two keys, first of
///     that for the time while unlocked (64); SHA-256 of the keys of the recovery key for which the keys of this
///     generation were sealed, or zeros (32); 1 if this generation is closed, else 0; length (2) and name of the view;
///     number of holders (4), and their numbers, ascending (4 each)
package struct ViewEntry: Sendable, Hashable {
    private static let magic = "SKVIEWEN"
    private static let what = "entry of a view"
    /// The most members that hold a view.
    package static let mostHolders = 65_535

    package let circle: Identifier16
    package let view: Identifier16
    package let generation: UInt32
    package let number: UInt32
    package let signer: UInt32
    private let sealed: Data
    private let signature: Data

    package struct Body: Sendable, Hashable {
        /// The SHA-256 digest of the entry before; zeros in the first.
        package var previous: Data
        package var time: HybridTime
        /// Of the view's keys, by class.
        package var whileUnlocked: Data
        package var afterFirstUnlock: Data
        /// The fingerprint of the recovery key that opens this generation; zeros for none.
        package var recovery: Data
        /// Whether nothing is sealed under this generation any more: a later one has everything.
        package var isClosed: Bool
        /// The access group whose items are in the view.
        package var name: String
        package var holders: Set<UInt32>

        package init(
            previous: Data, time: HybridTime, whileUnlocked: Data, afterFirstUnlock: Data,
            recovery: Data = Self.noRecovery, isClosed: Bool = false, name: String, holders: Set<UInt32>
        ) {
            (self.previous, self.time, self.isClosed) = (previous, time, isClosed)
            self.recovery = recovery
            (self.whileUnlocked, self.afterFirstUnlock) = (whileUnlocked, afterFirstUnlock)
            (self.name, self.holders) = (name, holders)
        }

        /// What ``recovery`` is without a recovery key.
        package static let noRecovery = Data(count: 32)

        package func commitment(_ keyClass: KeyClass) -> Data {
            keyClass == .whileUnlocked ? whileUnlocked : afterFirstUnlock
        }
    }

    /// - Parameter key: The view's key for the time after the first unlocking.
    package init(
        _ body: Body, of view: Identifier16, in circle: Identifier16, generation: UInt32, number: UInt32,
        signer: UInt32, under key: ViewKey, signedBy sign: CircleSigner
    ) throws {
        (self.circle, self.view, self.generation, self.number) = (circle, view, generation, number)
        self.signer = signer
        let head = Self.head(circle, view, generation, number, signer)
        sealed = try SealedText.seal(Self.encode(body), under: key.entries, binding: Self.bindingLabel + head)
        signature = try sign((Self.signatureLabel + head + sealed.sha256).sha256)
    }

    package init(decoding encoded: Data) throws(CircleError) {
        self = try CircleForm.read(encoded, as: Self.what) { reader in
            try CircleForm.readHead(Self.magic, from: &reader, of: Self.what)
            return ViewEntry(
                circle: try Identifier16(from: &reader), view: try Identifier16(from: &reader),
                generation: try Self.bounded(reader.integer()), number: try Self.bounded(reader.integer()),
                signer: try reader.integer(),
                sealed: Data(try reader.take(reader.remaining - SignatureKey.signatureSize)),
                signature: Data(try reader.take(SignatureKey.signatureSize)))
        }
    }

    /// A number that others can still be above.
    private static func bounded(_ number: UInt32) throws(CircleError) -> UInt32 {
        guard number < 1 << 30 else { throw .malformed(what) }
        return number
    }

    private init(
        circle: Identifier16, view: Identifier16, generation: UInt32, number: UInt32, signer: UInt32, sealed: Data,
        signature: Data
    ) {
        (self.circle, self.view, self.generation, self.number) = (circle, view, generation, number)
        (self.signer, self.sealed, self.signature) = (signer, sealed, signature)
    }

    private static let bindingLabel = CircleForm.label("view-entry")
    private static let signatureLabel = CircleForm.label("view-entry-signature")

    private static func head(
        _ circle: Identifier16, _ view: Identifier16, _ generation: UInt32, _ number: UInt32, _ signer: UInt32
    ) -> Data {
        let buffer = FrameBuffer()
        CircleForm.appendHead(magic, to: buffer)
        buffer.appendRaw(circle.bytes)
        buffer.appendRaw(view.bytes)
        buffer.append(generation)
        buffer.append(number)
        buffer.append(signer)
        return buffer.data
    }

    private var head: Data { Self.head(circle, view, generation, number, signer) }

    package var encoded: Data { head + sealed + signature }

    private static func encode(_ body: Body) -> Data {
        let buffer = FrameBuffer()
        buffer.appendRaw(body.previous)
        buffer.append(body.time.rawValue)
        buffer.appendRaw(body.whileUnlocked)
        buffer.appendRaw(body.afterFirstUnlock)
        buffer.appendRaw(body.recovery)
        buffer.append(body.isClosed)
        buffer.append(shortCounted: Data(body.name.utf8))
        buffer.append(UInt32(truncatingIfNeeded: body.holders.count))
        for holder in body.holders.sorted() { buffer.append(holder) }
        return buffer.data
    }

    /// Makes sure that the member with these keys signed it. It needs no key of the view.
    package func check(signedBy keys: MemberKeys) throws(CircleError) {
        try SignatureKey(compressed: keys.signing, of: Self.what).check(
            signature, of: Self.signatureLabel + head + sealed.sha256, what: Self.what)
    }

    /// Makes sure that the member with these keys signed it, and opens it.
    ///
    /// - Parameters:
    ///   - keys: Of the member ``signer``.
    ///   - key: The view's key for the time after the first unlocking, in this generation.
    /// - Throws: ``CircleError/forged(_:)`` for another signer or another key.
    package func open(under key: ViewKey, signedBy keys: MemberKeys) throws(CircleError) -> Body {
        try check(signedBy: keys)
        let text = try SealedText.open(sealed, under: key.entries, binding: Self.bindingLabel + head, of: Self.what)
        let body = try CircleForm.read(text, as: Self.what) { reader in
            let previous = Data(try reader.take(32))
            let time = HybridTime(rawValue: try reader.integer())
            let (whileUnlocked, afterFirstUnlock) = (Data(try reader.take(32)), Data(try reader.take(32)))
            let recovery = Data(try reader.take(32))
            let isClosed = try reader.bool()
            let name = try reader.shortText()
            var holders: [UInt32] = []
            for _ in 0..<(try reader.count(limit: Self.mostHolders)) {
                let holder: UInt32 = try reader.integer()
                guard holders.last.map({ $0 < holder }) ?? true else { throw CircleError.malformed(Self.what) }
                holders.append(holder)
            }
            return Body(
                previous: previous, time: time, whileUnlocked: whileUnlocked, afterFirstUnlock: afterFirstUnlock,
                recovery: recovery, isClosed: isClosed, name: name, holders: Set(holders))
        }
        // A key of somebody else may open it as well.
        guard isEqualInConstantTime(body.afterFirstUnlock, key.commitment) else { throw .forged(Self.what) }
        return body
    }
}
