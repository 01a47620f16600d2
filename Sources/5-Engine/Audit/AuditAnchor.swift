import Access
import Bytes
import Crypto
import FoundationEssentials
import PrivateFiles
import SecureMemory

/// Where both logs were at an unlocking, and the first key of the records that follow, sealed under a key that only an
/// unlocking opens.
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKANCHOR"
///          8      2  format version, 1
///         10     16  identifier of the keybag
///         26     16  identifier of the anchor
///         42     12  nonce
///         54    144  sealed, for `audit` and for `audit-looks` each:
///                    number of the last record (8), its link (32), key of the next record (32)
///        198     16  tag
struct AuditAnchor: Sendable {
    /// A random name of an anchor.
    struct Identifier: Equatable, Sendable {
        let bytes: Data

        static let size = 16

        static func random() -> Identifier { Identifier(bytes: Data([UInt8].random(count: size))) }
    }

    /// The end of one log.
    struct End: Sendable {
        /// The number of the last record; 0 before the first.
        var sequence: UInt64
        var link: AuditLink
        /// The key of the next record.
        var key: SymmetricKey

        static let size = 8 + 32 + AuditChain.keySize

        func chain(_ anchor: Identifier) -> AuditChain {
            AuditChain(anchor: anchor, number: sequence + 1, key: key)
        }
    }

    let keybag: UUID
    let identifier: Identifier
    let ends: [AuditPart: End]

    static let fileName = "audit.anchor"
    private static let magic = Data("SKANCHOR".utf8) + [0, 1]
    private static let headerSize = 42
    private static let size = headerSize + 12 + AuditPart.allCases.count * End.size + 16

    /// An anchor file, before it is opened.
    struct Stored: Sendable {
        let keybag: UUID
        let identifier: Identifier
        fileprivate let bytes: Data
    }

    /// What is in the place of the anchor.
    enum Found: Sendable {
        case nothing
        /// Something that no vault of this version wrote.
        case invalid
        case stored(Stored)
    }

    static func find(in folder: PrivateFolder) throws(FileError) -> Found {
        let bytes: Data
        do throws(FileError) {
            bytes = try folder.read(fileName, limit: size)
        } catch {
            switch error {
            case .notFound: return .nothing
            case .tooLarge: return .invalid
            default: throw error
            }
        }
        guard bytes.count == size, bytes.starts(with: magic) else { return .invalid }
        let keybag = bytes[magic.count..<magic.count + 16].withUnsafeBytes {
            UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
        }
        return .stored(
            Stored(keybag: keybag, identifier: Identifier(bytes: Data(bytes[26..<headerSize])), bytes: bytes))
    }

    /// The identifier of the anchor in `folder`, for which no key is needed; nil if there is none.
    static func identifier(in folder: PrivateFolder) -> Identifier? {
        guard case .stored(let stored)? = try? find(in: folder) else { return nil }
        return stored.identifier
    }

    init(keybag: UUID, identifier: Identifier, ends: [AuditPart: End]) {
        self.keybag = keybag
        self.identifier = identifier
        self.ends = ends
    }

    /// - Returns: Nil if it was changed, or made under another key.
    init?(_ stored: Stored, under seal: any AuditSeal) {
        let header = stored.bytes.prefix(Self.headerSize)
        guard stored.keybag == seal.identifier,
            let box = try? AES.GCM.SealedBox(combined: stored.bytes.dropFirst(Self.headerSize)),
            var opened = try? AES.GCM.open(box, using: Self.key(under: seal), authenticating: header),
            opened.count == AuditPart.allCases.count * End.size
        else { return nil }
        defer { opened.wipe() }
        let ends = opened.withUnsafeBytes { opened in
            AuditPart.allCases.enumerated().map { index, part in
                let end = UnsafeRawBufferPointer(rebasing: opened[index * End.size..<(index + 1) * End.size])
                return (
                    part,
                    End(
                        sequence: UInt64(bigEndian: end.loadUnaligned(as: UInt64.self)),
                        link: AuditLink(bytes: Data(end[8..<40])),
                        key: SymmetricKey(data: UnsafeRawBufferPointer(rebasing: end[40...])))
                )
            }
        }
        self.init(keybag: stored.keybag, identifier: stored.identifier, ends: Dictionary(uniqueKeysWithValues: ends))
    }

    /// - Returns: Nil if the memory for it is not available.
    func encoded(under seal: any AuditSeal) -> Data? {
        var header = Self.magic
        withUnsafeBytes(of: keybag.uuid) { header.append(contentsOf: $0) }
        header += identifier.bytes
        var plaintext = Data(capacity: AuditPart.allCases.count * End.size)
        defer { plaintext.wipe() }
        for part in AuditPart.allCases {
            guard let end = ends[part] else { return nil }
            plaintext.append(bigEndian: end.sequence)
            plaintext += end.link.bytes
            end.key.withUnsafeBytes { plaintext.append(contentsOf: $0) }
        }
        let box = try? AES.GCM.seal(plaintext, using: Self.key(under: seal), authenticating: header)
        return box?.combined.map { header + $0 }
    }

    private static func key(under seal: any AuditSeal) -> SymmetricKey {
        SymmetricKey(data: seal.tag(of: Data("anchor".utf8)))
    }
}
