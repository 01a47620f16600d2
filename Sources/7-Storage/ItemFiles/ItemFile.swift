import Bytes
import Crypto
import FoundationEssentials
import Frames
import KeychainModel
import PasswordFiles
import ProtectedFiles

/// Items in a file that one recipient can open.
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKITEMS\0"
///          8      2  format version, 1
///         10      1  what opens it: 1 a passphrase, 2 a private key on P-256
///         11         with a passphrase: identifier (16), and the wrapped key (70) of a file under a password
///         11         with a key: SHA-1 of the public key (20), and the encapsulated key (65)
///                    the sealed contents, with their tag of 16 bytes at the end
///
/// All of the contents are one message of an AEAD, so that nothing of a changed file is ever read. What authenticates
/// the head is its place as the associated data of that message.
package struct ItemFile: Sendable {
    /// The most bytes of all items together, before they are sealed.
    package static let largestContents = 32 << 20
    /// The most bytes of a file. Nobody reads more of one.
    package static let largest = largestContents + 256

    static let magic = Data("SKITEMS\0".utf8)
    private static let version: UInt16 = 1
    private static let start = 11
    private static let identifierSize = 16
    private static let wrappedSize = 70
    private static let labelSize = 20
    private static let pointSize = 65
    private static let tagSize = 16
    /// What the keys of HPKE are for (RFC 9180, section 5.1).
    private static let purpose = Data("swift-keychain/v1/items".utf8)
    /// DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM.
    private static let suite = HPKE.Ciphersuite.P256_SHA256_AES_GCM_256
    /// Each key seals one message.
    private static let nonce = Data(count: 12)

    private enum Opener {
        case passphrase(identifier: Data, wrapped: Data)
        case key(label: Data, encapsulated: Data)
    }

    private let head: Data
    private let opener: Opener
    private let sealed: Data

    /// Reads the beginning of a file.
    ///
    /// - Throws: ``ItemFileError/unreadable(reason:)``, ``ItemFileError/damaged(reason:)`` or
    ///   ``ItemFileError/tooLarge(limit:)``.
    package init(_ bytes: Data) throws(ItemFileError) {
        guard bytes.count <= Self.largest else { throw .tooLarge(limit: Self.largestContents) }
        let bytes = Data(bytes)
        guard bytes.starts(with: Self.magic) else {
            throw .unreadable(reason: "it does not begin as a file of items")
        }
        guard bytes.count > Self.start else { throw .damaged(reason: "it ends early") }
        let version = UInt16(bigEndianBytes: bytes[8..<10])
        guard version == Self.version else {
            throw .unreadable(reason: "it has format version \(version), which this version does not know")
        }
        let (first, second): (Int, Int)
        switch bytes[10] {
        case 1: (first, second) = (Self.identifierSize, Self.wrappedSize)
        case 2: (first, second) = (Self.labelSize, Self.pointSize)
        default: throw .unreadable(reason: "an unknown kind of key opens it")
        }
        let (middle, end) = (Self.start + first, Self.start + first + second)
        guard bytes.count > end + Self.tagSize else { throw .damaged(reason: "it ends early") }
        let parts = (Data(bytes[Self.start..<middle]), Data(bytes[middle..<end]))
        opener =
            bytes[10] == 1
            ? .passphrase(identifier: parts.0, wrapped: parts.1) : .key(label: parts.0, encapsulated: parts.1)
        head = Data(bytes[..<end])
        sealed = Data(bytes[end...])
    }

    /// The digest of the public key whose private half opens the file, as ``KeyData/applicationLabel``; nil for a file
    /// under a passphrase.
    package var keyLabel: Data? {
        if case .key(let label, _) = opener { label } else { nil }
    }

    private static func head(_ kind: UInt8, _ first: Data, _ second: Data) -> Data {
        magic + version.bigEndianBytes + [kind] + first + second
    }

    /// The keys that a passphrase opens.
    ///
    /// - Parameter cost: What a try of the passphrase costs in a new file; nil for a suitable cost on this machine.
    /// - Throws: ``ItemFileError/refused(_:)`` for an empty passphrase.
    package static func keys(
        under passphrase: SecretBytes, cost: PasswordCost? = nil
    ) throws(ItemFileError) -> PasswordFileKeys {
        do throws(SealedFileError) {
            return try PasswordFileKeys(passphrase, cost: cost)
        } catch {
            throw ItemFileError(error)
        }
    }

    // MARK: Sealing

    /// Seals items under a passphrase.
    ///
    /// - Throws: ``ItemFileError/bound(reason:)`` for items that stay on their device, and
    ///   ``ItemFileError/tooLarge(limit:)``.
    package static func seal(
        _ items: [StoredItem], under passphrase: PasswordFileKeys
    ) throws(ItemFileError) -> Data {
        let contents = try ItemRecords.encode(items)
        let identifier = Data([UInt8].random(count: identifierSize))
        do {
            let made = try passphrase.makeFileKey(file: identifier, path: "")
            let head = head(1, identifier, made.wrapped)
            let key = made.key.withUnsafeBytes { SymmetricKey(data: $0) }
            let box = try contents.withData {
                try AES.GCM.seal($0, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: head)
            }
            return head + box.ciphertext + box.tag
        } catch let error as SealedFileError {
            throw ItemFileError(error)
        } catch {
            throw .memoryUnavailable
        }
    }

    /// Seals items to the holder of a private key.
    ///
    /// - Throws: As ``seal(_:under:)``.
    package static func seal(_ items: [StoredItem], to recipient: ItemRecipient) throws(ItemFileError) -> Data {
        let contents = try ItemRecords.encode(items)
        do {
            var sender = try HPKE.Sender(recipientKey: recipient.key, ciphersuite: suite, info: purpose)
            let head = head(2, recipient.label, sender.encapsulatedKey)
            return try head + contents.withData { try sender.seal($0, authenticating: head) }
        } catch {
            throw .unsuitableRecipient(reason: "the recipient's key cannot be used")
        }
    }

    // MARK: Opening

    /// Returns the items of a file under a passphrase.
    ///
    /// - Throws: ``ItemFileError/wrongPassphrase``, and ``ItemFileError/unreadable(reason:)`` before any work is done
    ///   if a try of a passphrase would cost more than a file may demand.
    package func items(openedWith passphrase: PasswordFileKeys) throws(ItemFileError) -> [StoredItem] {
        guard case .passphrase(let identifier, let wrapped) = opener else { throw .keyNeeded }
        let secret: SecretBytes
        do throws(SealedFileError) {
            secret = try passphrase.fileKey(file: identifier, wrapped: wrapped, path: "")
        } catch {
            throw ItemFileError(error)
        }
        let key = secret.withUnsafeBytes { SymmetricKey(data: $0) }
        let contents: FrameBuffer
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: Self.nonce), ciphertext: sealed.dropLast(Self.tagSize),
                tag: sealed.suffix(Self.tagSize))
            contents = Self.moved(try AES.GCM.open(box, using: key, authenticating: head))
        } catch {
            throw .damaged(reason: "its contents were changed, or it ends early")
        }
        return try ItemRecords.decode(contents)
    }

    /// Returns the items of a file for a private key.
    ///
    /// - Throws: ``ItemFileError/undecipherable``, and what the key throws.
    package func items(openedWith key: ItemFileKey) throws(ItemFileError) -> [StoredItem] {
        guard case .key(_, let encapsulated) = opener else { throw .passphraseNeeded }
        let contents: FrameBuffer
        do {
            var recipient = try HPKE.Recipient(
                privateKey: key.agreement, ciphersuite: Self.suite, info: Self.purpose, encapsulatedKey: encapsulated)
            contents = Self.moved(try recipient.open(sealed, authenticating: head))
        } catch let error as ItemFileError {
            throw error
        } catch {
            throw .undecipherable
        }
        return try ItemRecords.decode(contents)
    }

    /// Returns opened contents in memory that is wiped when it is freed. What is given is wiped now; a copy of it with
    /// a name would keep its bytes.
    private static func moved(_ opened: consuming Data) -> FrameBuffer {
        let buffer = FrameBuffer(capacity: opened.count)
        opened.withUnsafeMutableBytes { bytes in
            buffer.appendRaw(UnsafeRawBufferPointer(bytes))
            SecretBytes.wipe(bytes)
        }
        return buffer
    }
}

extension FrameBuffer {
    /// Runs `body` with the bytes, which are not copied.
    fileprivate func withData<Result>(_ body: (Data) throws -> Result) rethrows -> Result {
        guard let base = bytes.baseAddress else { return try body(Data()) }
        return try withExtendedLifetime(self) {
            try body(
                Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none))
        }
    }
}

extension ItemFileError {
    fileprivate init(_ error: SealedFileError) {
        switch error {
        case .wrongPassword: self = .wrongPassphrase
        case .tooCostly(_, let cost):
            self = .unreadable(reason: "it asks for \(cost) to try a passphrase, more than any file needs")
        case .damaged: self = .damaged(reason: "its head")
        case .unreadable(_, let reason): self = .unreadable(reason: reason)
        case .refused(let error): self = .refused(error)
        default: self = .memoryUnavailable
        }
    }
}
