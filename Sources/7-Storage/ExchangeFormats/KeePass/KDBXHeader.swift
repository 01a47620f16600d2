import Bytes
import FoundationEssentials

/// The beginning of a KeePass database, which is not encrypted: how the rest is.
struct KDBXHeader {
    enum Cipher {
        case aes
        case chaCha20
    }

    /// 3 or 4.
    let major: UInt16
    private(set) var cipher = Cipher.aes
    private(set) var isCompressed = false
    private(set) var masterSeed = Data()
    private(set) var vector = Data()
    let derivation: KDBXDerivation
    /// Of version 3: the cipher of protected values with its key, and what the decrypted file begins with. Version 4
    /// has the first two within what is encrypted.
    private(set) var inner = KDBXStream.Inner.salsa20
    private(set) var innerKey = Data()
    private(set) var beginning = Data()
    /// The header as it is, which is authenticated.
    let bytes: Data

    static let signature = Data([0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5])
    private static let signatureOfVersion1 = Data([0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5])

    static func isMeant(_ bytes: Data) -> Bool {
        bytes.starts(with: signature) || bytes.starts(with: signatureOfVersion1)
    }

    /// What the fields of a header are, by their numbers.
    enum Field: UInt8 {
        case end = 0
        case cipher = 2
        case compression = 3
        case masterSeed = 4
        case transformSeed = 5
        case transformRounds = 6
        case vector = 7
        case innerKey = 8
        case beginning = 9
        case inner = 10
        case derivation = 11
    }

    static let aes = "31c1f2e6bf714350be5805216afc5aff"
    private static let chaCha20 = "d6038a2b8b6f4cb5a524339a31dbb59a"
    private static let twofish = "ad68f29f576f4bb9a36ad47af965346c"

    /// Reads the header from the beginning of a file.
    init(_ reader: inout ByteReader) throws(ExchangeError) {
        guard let signature = reader.take(8), Self.isMeant(signature) else {
            throw .malformed(.kdbx, "it does not begin as one")
        }
        guard signature == Self.signature else {
            throw .malformed(.kdbx, "it is of KeePass 1: open it with KeePassXC, which saves it anew")
        }
        let damaged = ExchangeError.malformed(.kdbx, "its header is damaged, or was cut off")
        guard reader.number(UInt16.self) != nil, let major = reader.number(UInt16.self) else { throw damaged }
        guard major == 3 || major == 4 else {
            throw .malformed(.kdbx, "it has version \(major), and versions 3 and 4 are known")
        }
        self.major = major
        var fields: [UInt8: Data] = [:]
        while true {
            guard let number = reader.number(UInt8.self),
                let value = major == 3 ? reader.counted(UInt16.self) : reader.counted(UInt32.self)
            else { throw damaged }
            guard number != Field.end.rawValue else { break }
            fields[number] = value
        }
        bytes = reader.consumed
        func field(_ field: Field) -> Data { fields[field.rawValue] ?? Data() }
        switch [UInt8](field(.cipher)).hexadecimal() {
        case Self.aes: cipher = .aes
        case Self.chaCha20: cipher = .chaCha20
        case Self.twofish:
            throw .malformed(.kdbx, "it is encrypted with Twofish: choose AES or ChaCha20 in its settings of security")
        default: throw .malformed(.kdbx, "its cipher is not known")
        }
        switch UInt32(littleEndianBytes: field(.compression)) {
        case 0: isCompressed = false
        case 1: isCompressed = true
        default: throw .malformed(.kdbx, "its compression is not known")
        }
        (masterSeed, vector) = (field(.masterSeed), field(.vector))
        guard masterSeed.count == 32, vector.count == (cipher == .aes ? 16 : 12) else { throw damaged }
        guard major == 3 else {
            derivation = try KDBXDerivation(parameters: field(.derivation))
            return
        }
        guard field(.transformRounds).count == 8 else { throw damaged }
        derivation = try KDBXDerivation(
            aesSeed: field(.transformSeed), rounds: UInt64(littleEndianBytes: field(.transformRounds)))
        (innerKey, beginning) = (field(.innerKey), field(.beginning))
        guard beginning.count == 32, !innerKey.isEmpty else { throw damaged }
        guard let inner = KDBXStream.Inner(rawValue: UInt32(littleEndianBytes: field(.inner))) else {
            throw .malformed(.kdbx, "the cipher of its protected values is not known")
        }
        self.inner = inner
    }
}
