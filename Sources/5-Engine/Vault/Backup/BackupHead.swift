import Bytes
import FoundationEssentials
import Keybag
import KeychainModel
import VaultInterface

/// Returns the next bytes of a backup: as many as are asked for, and fewer only at its end.
package typealias BackupInput = (Int) throws -> Data

/// The readable beginning of a backup: what opens it, and whose it is.
///
///     offset  bytes  field (integers big-endian)
///          0      8  magic "SKBACKUP"
///          8      2  format version: 2; 1 in backups of earlier software, whose rows have no versions
///         10      1  what opens it: 1 a password, 2 the vault's recovery key, 3 the vault itself
///         11     16  identifier of the keybag
///         27      8  when it was made, in milliseconds since 1970
///         35     32  salt of the key of what follows
///         67     16  salt of Argon2id; zero without a password
///         83      4  its memory in KiB; zero without a password
///         87      4  its passes; zero without a password
///         91      4  n, the length of the recovery record; zero if only the vault opens the backup
///         95      n  the recovery record, under the stretched password or under the recovery key
package struct BackupHead: Sendable, Equatable {
    package enum Seal: Sendable, Equatable {
        case password(salt: [UInt8], cost: Argon2Cost, record: Data)
        case recoveryKey(record: Data)
        case thisVault
    }

    /// 1 or 2.
    package let version: UInt16
    package let keybag: UUID
    /// Milliseconds since 1970.
    package let time: Int64
    package let salt: Data
    package let seal: Seal

    static let saltSize = 32
    private static let magic = Array("SKBACKUP".utf8)
    private static let size = 95
    private static let presentVersion: UInt16 = 2

    init(keybag: UUID, time: Int64, salt: Data, seal: Seal) {
        version = Self.presentVersion
        self.keybag = keybag
        self.time = time
        self.salt = salt
        self.seal = seal
    }

    /// The classes whose items a backup of this kind has.
    var classes: [ProtectionClass] {
        switch seal {
        case .password, .recoveryKey: RecoveryRecord.classes
        // The items of the passcode-only class are in no backup.
        case .thisVault: ProtectionClass.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }
        }
    }

    var encoded: Data {
        let (code, argonSalt, cost, record): (UInt8, [UInt8], Argon2Cost, Data) =
            switch seal {
            case .password(let salt, let cost, let record): (1, salt, cost, record)
            case .recoveryKey(let record): (2, Self.noSalt, Self.noCost, record)
            case .thisVault: (3, Self.noSalt, Self.noCost, Data())
            }
        var encoded = Data(Self.magic + [0, UInt8(truncatingIfNeeded: version), code])
        withUnsafeBytes(of: keybag.uuid) { encoded.append(contentsOf: $0) }
        encoded.append(bigEndian: time)
        encoded += salt + argonSalt
        encoded.append(bigEndian: cost.memoryKiB)
        encoded.append(bigEndian: cost.passes)
        encoded.append(bigEndian: UInt32(truncatingIfNeeded: record.count))
        return encoded + record
    }

    private static let noSalt = [UInt8](repeating: 0, count: BackupSeal.saltSize)
    private static let noCost = Argon2Cost(memoryKiB: 0, passes: 0)

    /// Reads the beginning of a backup.
    ///
    /// - Throws: ``VaultError/corruptBackup(reason:)``.
    init(_ input: BackupInput) throws {
        let bytes = [UInt8](try input(Self.size))
        guard bytes.starts(with: Self.magic) else {
            throw VaultError.corruptBackup(reason: "it does not begin as a backup of a keychain")
        }
        guard bytes.count == Self.size else { throw VaultError.corruptBackup(reason: "it ends early") }
        version = UInt16(bigEndianBytes: bytes[8..<10])
        guard (1...Self.presentVersion).contains(version) else {
            throw VaultError.corruptBackup(
                reason: "it has format version \(version), which this version cannot read")
        }
        keybag = bytes[11..<27].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        time = Int64(bigEndianBytes: bytes[27..<35])
        salt = Data(bytes[35..<67])
        let count = Int(UInt32(bigEndianBytes: bytes[91..<95]))
        guard count <= RecoveryRecord.largestEncoding else {
            throw VaultError.corruptBackup(reason: "its recovery record is too long")
        }
        let record = count == 0 ? Data() : try input(count)
        guard record.count == count else { throw VaultError.corruptBackup(reason: "it ends early") }
        switch bytes[10] {
        case 1:
            seal = .password(
                salt: Array(bytes[67..<83]),
                cost: Argon2Cost(
                    memoryKiB: UInt32(bigEndianBytes: bytes[83..<87]), passes: UInt32(bigEndianBytes: bytes[87..<91])),
                record: record)
        case 2: seal = .recoveryKey(record: record)
        case 3 where record.isEmpty: seal = .thisVault
        default: throw VaultError.corruptBackup(reason: "an unknown kind of key opens it")
        }
        guard encoded == Data(bytes) + record else {
            throw VaultError.corruptBackup(reason: "a field that is not in use is not empty")
        }
    }
}
