import Bytes
import Crypto
import Enclave
import FoundationEssentials

/// The contents of the file `device-secret`, with which a vault finds its device secret in the TPM.
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKDEVICE"
///          8      2  version, 2
///         10      1  enclave kind, 2
///         11     34  name of the storage key that the secret is under
///         45     34  name of the key that tells this TPM from others, or zeros
///         79      …  the secret's public and private area (TPM2B_PUBLIC, TPM2B_PRIVATE)
///        end      8  first 8 bytes of SHA-256 over all before, against accidents
struct DeviceRecord: Sendable, Equatable {
    var parent: Data
    /// Nil if reading it would have required the password of the TPM's owner.
    var identity: Data?
    /// The object's public and private area.
    var secret: Data

    func encoded() -> Data {
        var encoded = Data(Self.magic + [0, 2, EnclaveKind.tpm2.rawValue])
        encoded += parent + (identity ?? Data(count: Self.nameSize)) + secret
        return encoded + SHA256.hash(data: encoded).prefix(Self.checkSize)
    }

    init(parent: Data, identity: Data?, secret: Data) {
        self.parent = parent
        self.identity = identity
        self.secret = secret
    }

    init(decoding encoded: Data) throws(EnclaveError) {
        let bytes = [UInt8](encoded)
        guard bytes.count > Self.headerSize + Self.checkSize, bytes.count <= Self.largestSize else {
            throw .damagedDeviceSecret(reason: "\(bytes.count) bytes")
        }
        guard bytes.starts(with: Self.magic) else { throw .damagedDeviceSecret(reason: "not a device secret") }
        guard bytes[8] == 0, bytes[9] == 2 else {
            throw .damagedDeviceSecret(reason: "unknown version \(Int(bytes[8]) << 8 | Int(bytes[9]))")
        }
        guard bytes[10] == EnclaveKind.tpm2.rawValue else {
            throw .damagedDeviceSecret(reason: "unknown enclave kind \(bytes[10])")
        }
        let end = bytes.count - Self.checkSize
        guard Array(SHA256.hash(data: bytes[..<end]).prefix(Self.checkSize)) == Array(bytes[end...]) else {
            throw .damagedDeviceSecret(reason: "its check value does not match")
        }
        parent = Data(bytes[11..<45])
        let name = Data(bytes[45..<79])
        identity = name == Data(count: Self.nameSize) ? nil : name
        secret = Data(bytes[Self.headerSize..<end])
    }

    private static let magic = [UInt8]("SKDEVICE".utf8)
    /// The size of a name with SHA-256: the algorithm and the digest (Part 1, section 16).
    private static let nameSize = 34
    private static let headerSize = 8 + 2 + 1 + 2 * nameSize
    private static let checkSize = 8
    package static let largestSize = 4096
}
