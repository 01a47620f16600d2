import Bytes
import Crypto
import FoundationEssentials
import Frames

/// What a member says of how far it has got: the end of its log, and what its carrier has read and written. Members
/// compare these, and so notice what a store withholds.
///
///     offset  bytes  field
///          0      8  "SKCRHEAD"
///          8      1  format, 1
///          9     16  circle
///         25      4  member
///         29      8  sequence: rises by one with each head of the member
///         37         nonce (12) ‖ sealed body ‖ tag (16)
///        end     64  signature by the member's signing key
///
/// The body is sealed with AES-256-GCM under a key that is derived from the circle's; the additional data is
/// "swift-keychain/circle/v1/head" ‖ the first 37 bytes. The signature is over
/// "swift-keychain/circle/v1/head-signature" ‖ the first 37 bytes ‖ SHA-256(what is sealed).
///
///     body: time (8); number of the last entry of the log (4) and its SHA-256 digest (32); length (2) and name of the
///     carrier; length (2) and bytes of the carrier's statement
package struct MemberHead: Sendable, Hashable {
    private static let magic = "SKCRHEAD"
    private static let what = "head of a member"
    private static let prefixSize = 37
    /// The longest statement of a carrier, and the longest name of one.
    package static let longestStatement = 4_096
    package static let longestCarrier = 64

    package let circle: Identifier16
    package let member: UInt32
    package let sequence: UInt64
    private let sealed: Data
    private let signature: Data

    package struct Body: Sendable, Hashable {
        /// By the member's clock.
        package var time: HybridTime
        /// The number of the last entry of the log, and its digest.
        package var entry: UInt32
        package var digest: Data
        package var carrier: String
        package var statement: Data

        package init(time: HybridTime, entry: UInt32, digest: Data, carrier: String, statement: Data) {
            (self.time, self.entry, self.digest) = (time, entry, digest)
            (self.carrier, self.statement) = (carrier, statement)
        }
    }

    package init(
        _ body: Body, in circle: Identifier16, member: UInt32, sequence: UInt64, under key: CircleKey,
        signedBy sign: CircleSigner
    ) throws {
        (self.circle, self.member, self.sequence) = (circle, member, sequence)
        let head = Self.head(circle, member, sequence)
        let buffer = FrameBuffer()
        buffer.append(body.time.rawValue)
        buffer.append(body.entry)
        buffer.appendRaw(body.digest)
        buffer.append(shortCounted: Data(body.carrier.utf8))
        buffer.append(shortCounted: body.statement)
        sealed = try SealedText.seal(buffer.data, under: key.heads, binding: CircleForm.label("head") + head)
        signature = try sign((CircleForm.label("head-signature") + head + sealed.sha256).sha256)
    }

    /// - Parameter encoded: Checked by ``open(under:signedBy:)`` only.
    package init(decoding encoded: Data) throws(CircleError) {
        self = try CircleForm.read(encoded, as: Self.what) { reader in
            try CircleForm.readHead(Self.magic, from: &reader, of: Self.what)
            let (circle, member, sequence) = (
                try Identifier16(from: &reader), try reader.integer(UInt32.self), try reader.integer(UInt64.self)
            )
            guard sequence < 1 << 62, reader.remaining > SignatureKey.signatureSize else {
                throw CircleError.malformed(Self.what)
            }
            return MemberHead(
                circle: circle, member: member, sequence: sequence,
                sealed: Data(try reader.take(reader.remaining - SignatureKey.signatureSize)),
                signature: Data(try reader.take(SignatureKey.signatureSize)))
        }
    }

    private init(circle: Identifier16, member: UInt32, sequence: UInt64, sealed: Data, signature: Data) {
        (self.circle, self.member, self.sequence) = (circle, member, sequence)
        (self.sealed, self.signature) = (sealed, signature)
    }

    private static func head(_ circle: Identifier16, _ member: UInt32, _ sequence: UInt64) -> Data {
        let buffer = FrameBuffer()
        CircleForm.appendHead(magic, to: buffer)
        buffer.appendRaw(circle.bytes)
        buffer.append(member)
        buffer.append(sequence)
        return buffer.data
    }

    package var encoded: Data { Self.head(circle, member, sequence) + sealed + signature }

    /// - Throws: ``CircleError/forged(_:)`` unless the member with these keys signed it.
    package func check(signedBy keys: MemberKeys) throws(CircleError) {
        let message = CircleForm.label("head-signature") + Self.head(circle, member, sequence) + sealed.sha256
        try SignatureKey(compressed: keys.signing, of: Self.what).check(signature, of: message, what: Self.what)
    }

    /// - Throws: ``CircleError``.
    package func open(under key: CircleKey) throws(CircleError) -> Body {
        let binding = CircleForm.label("head") + Self.head(circle, member, sequence)
        let text = try SealedText.open(sealed, under: key.heads, binding: binding, of: Self.what)
        return try CircleForm.read(text, as: Self.what) { reader in
            let body = Body(
                time: HybridTime(rawValue: try reader.integer()), entry: try reader.integer(),
                digest: Data(try reader.take(32)), carrier: try reader.shortText(), statement: try reader.shortCounted()
            )
            guard body.time <= .latest, body.statement.count <= Self.longestStatement,
                body.carrier.utf8.count <= Self.longestCarrier
            else { throw CircleError.malformed(Self.what) }
            return body
        }
    }
}
