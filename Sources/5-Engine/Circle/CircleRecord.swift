import Bytes
import Crypto
import FoundationEssentials
import Frames

/// A version of an item on its way between the members of a circle, sealed for the holders of a view and signed by a
/// member.
///
///     offset  bytes  field
///          0      4  "SKIR"
///          4      1  format, 1
///          5      1  1 item, 2 tombstone; and 0x10 if it is under the key for the time while the vault is unlocked
///          6      4  generation of the view's key
///         10     12  version: time (8), member (4)
///         22      4  member that sealed it
///         26      2  serial number of that member's writer certificate
///         28     16  salt
///         44         sealed body, with a tag of 16 bytes
///        end     64  signature by the writer's key
///
/// The body is sealed with AES-256-GCM under HKDF(record key of the view, salt, "swift-keychain/circle/v1/record"),
/// with a nonce of zeros: each salt makes a key of its own. The additional data is "swift-keychain/circle/v1/record" ‖
/// circle ‖ view ‖ name of the item ‖ the first 44 bytes. The signature is over
/// "swift-keychain/circle/v1/record-signature" ‖ the additional data ‖ SHA-256(sealed body). So a record opens and
/// verifies at its place only.
package struct CircleRecord: Sendable, Hashable {
    package enum Content: UInt8, Sendable {
        case item = 1
        case tombstone = 2
    }

    /// Where a record belongs.
    package struct Place: Sendable, Hashable {
        package var circle: Identifier16
        package var view: Identifier16
        /// The item's name in the view, of ``ViewKey/name(ofPrimaryKey:)``.
        package var name: Identifier16

        package init(circle: Identifier16, view: Identifier16, name: Identifier16) {
            (self.circle, self.view, self.name) = (circle, view, name)
        }
    }

    /// The most bytes of a record: what etcd takes in one request has to hold two.
    package static let mostBytes = 512 << 10
    private static let headSize = 44
    private static let tagSize = 16
    private static let magic = Data("SKIR".utf8)
    private static let flagWhileUnlocked: UInt8 = 0x10
    private static let what = "record"

    package let content: Content
    package let keyClass: KeyClass
    package let generation: UInt32
    package let version: RecordVersion
    package let sealer: UInt32
    package let serial: UInt16
    private let salt: Data
    private let sealed: Data
    private let signature: Data

    /// Seals the body of a record and signs it.
    ///
    /// - Parameters:
    ///   - body: Padded here, so that the size tells little.
    ///   - key: The view's key of the class and generation.
    package init(
        _ content: Content, _ body: RecordBody, version: RecordVersion, at place: Place, generation: UInt32,
        _ keyClass: KeyClass, under key: ViewKey, by writer: RecordWriter
    ) throws(CircleError) {
        (self.content, self.keyClass, self.generation, self.version) = (content, keyClass, generation, version)
        (sealer, serial) = (writer.certificate.member, writer.certificate.serial)
        salt = Data([UInt8].random(count: 16))
        let head = Self.head(content, keyClass, generation, version, sealer, serial, salt)
        let binding = Self.binding(head, at: place)
        guard
            let nonce = try? AES.GCM.Nonce(data: Data(count: 12)),
            let box = try? AES.GCM.seal(
                body.padded, using: CircleForm.key(from: key.records, salt: salt, "record"), nonce: nonce,
                authenticating: binding)
        else { throw .malformed("key") }
        sealed = box.ciphertext + box.tag
        guard Self.headSize + sealed.count + SignatureKey.signatureSize <= Self.mostBytes else {
            throw .notPermitted("an item that takes more than \(Self.mostBytes) bytes")
        }
        signature = try writer.signature(of: Self.signed(binding, sealed))
    }

    /// The number of its bytes.
    package var size: Int { Self.headSize + sealed.count + SignatureKey.signatureSize }

    /// Reads a record. Nothing of it is checked before ``check(at:by:)``.
    package init(decoding encoded: Data) throws(CircleError) {
        guard encoded.count >= Self.headSize + Self.tagSize + SignatureKey.signatureSize,
            encoded.count <= Self.mostBytes
        else { throw .malformed(Self.what) }
        self = try CircleForm.read(encoded, as: Self.what) { reader in
            guard Data(try reader.take(4)) == Self.magic else { throw CircleError.malformed(Self.what) }
            guard try reader.integer(UInt8.self) == CircleForm.format else {
                throw CircleError.unknownFormat(Self.what)
            }
            let kind: UInt8 = try reader.integer()
            guard let content = Content(rawValue: kind & ~Self.flagWhileUnlocked) else {
                throw CircleError.unknownFormat(Self.what)
            }
            return CircleRecord(
                content, kind & Self.flagWhileUnlocked == 0 ? .afterFirstUnlock : .whileUnlocked,
                generation: try reader.integer(), version: try RecordVersion(from: &reader),
                sealer: try reader.integer(), serial: try reader.integer(), salt: Data(try reader.take(16)),
                sealed: Data(try reader.take(reader.remaining - SignatureKey.signatureSize)),
                signature: Data(try reader.take(SignatureKey.signatureSize)))
        }
    }

    private init(
        _ content: Content, _ keyClass: KeyClass, generation: UInt32, version: RecordVersion, sealer: UInt32,
        serial: UInt16, salt: Data, sealed: Data, signature: Data
    ) {
        (self.content, self.keyClass, self.generation, self.version) = (content, keyClass, generation, version)
        (self.sealer, self.serial, self.salt, self.sealed) = (sealer, serial, salt, sealed)
        self.signature = signature
    }

    package var encoded: Data { head + sealed + signature }

    private var head: Data { Self.head(content, keyClass, generation, version, sealer, serial, salt) }

    private static func head(
        _ content: Content, _ keyClass: KeyClass, _ generation: UInt32, _ version: RecordVersion, _ sealer: UInt32,
        _ serial: UInt16, _ salt: Data
    ) -> Data {
        let buffer = FrameBuffer()
        buffer.appendRaw(magic)
        buffer.append(CircleForm.format)
        buffer.append(content.rawValue | (keyClass == .whileUnlocked ? flagWhileUnlocked : 0))
        buffer.append(generation)
        version.encode(to: buffer)
        buffer.append(sealer)
        buffer.append(serial)
        buffer.appendRaw(salt)
        return buffer.data
    }

    private static let bindingLabel = CircleForm.label("record")
    private static let signatureLabel = CircleForm.label("record-signature")

    private static func binding(_ head: Data, at place: Place) -> Data {
        bindingLabel + place.circle.bytes + place.view.bytes + place.name.bytes + head
    }

    private static func signed(_ binding: Data, _ sealed: Data) -> Data { signatureLabel + binding + sealed.sha256 }

    /// Makes sure that the record belongs to `place`, and that the member who sealed it signed it.
    ///
    /// It needs no secret: a locked vault checks what it cannot open yet.
    ///
    /// - Parameter writer: Of the certificate that ``sealer`` and ``serial`` name.
    /// - Throws: ``CircleError/forged(_:)``.
    package func check(at place: Place, by writer: RecordChecker) throws(CircleError) {
        let certificate = writer.certificate
        guard certificate.circle == place.circle, certificate.member == sealer, certificate.serial == serial,
            version.time < .latest
        else { throw .forged(Self.what) }
        // What a member seals anew for another keeps the version that the other gave it.
        guard version.member != sealer || (certificate.from...certificate.until).contains(version.time) else {
            throw .forged(Self.what)
        }
        guard writer.isValid(signature, of: Self.signed(Self.binding(head, at: place), sealed)) else {
            throw .forged(Self.what)
        }
    }

    /// Opens the body of a checked record.
    ///
    /// - Parameter key: The view's key of the record's class and generation.
    /// - Throws: ``CircleError/forged(_:)`` if it was sealed under another key.
    package func open(at place: Place, under key: ViewKey) throws(CircleError) -> RecordBody {
        guard let nonce = try? AES.GCM.Nonce(data: Data(count: 12)),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce, ciphertext: sealed.dropLast(Self.tagSize), tag: sealed.suffix(Self.tagSize)),
            let text = try? AES.GCM.open(
                box, using: CircleForm.key(from: key.records, salt: salt, "record"),
                authenticating: Self.binding(head, at: place))
        else { throw .forged(Self.what) }
        return try RecordBody(decodingPadded: .wipedWhenFreed(text), content)
    }
}
