import Access
import Bytes
import FoundationEssentials
import Frames
import KeychainModel

/// Sends a backup of the vault's items: the bytes of one sealed file, in pieces. For clients that hold every group.
///
/// The backup has the items as they were at one moment, also while others write. It leaves out items that are for this
/// device only, unless only this vault can open it.
///
/// - Throws: ``VaultError/interactionNotAllowed(reason:)`` for a backup under a password, unless the vault is
///   unlocked; ``VaultError/busy`` while another backup is made.
package struct MakeBackup: VaultOperation {
    package var seal: BackupSeal

    package init(_ seal: BackupSeal) { self.seal = seal }

    package typealias Part = Data

    package typealias Reply = BackupSummary

    package static let number: UInt8 = 31
    package static let name = "make-backup"
    package static let traits: OperationTraits = [.usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Data>) throws(VaultError) -> Reply {
        try engine.backup.make(self, as: client, send: send)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(seal) }

    package init(from reader: inout FrameReader) throws(FrameError) { seal = try reader.read() }
}

/// What opens a backup.
package enum BackupSeal: WireValue {
    /// 32 bytes that Argon2id made from a password and 16 bytes of salt. The vault never sees the password.
    case password(stretched: SecretBytes, salt: [UInt8], cost: Argon2Cost)
    /// The vault's recovery key. A locked vault makes such a backup, too.
    case recoveryKey
    /// The keys of this vault: nothing but the vault itself can restore the backup.
    case thisVault

    package static let saltSize = 16

    package func encode(to buffer: FrameBuffer) {
        switch self {
        case .password(let stretched, let salt, let cost):
            buffer.write(code: 1, stretched, Data(salt), cost.memoryKiB, cost.passes)
        case .recoveryKey: buffer.append(UInt8(2))
        case .thisVault: buffer.append(UInt8(3))
        }
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        switch try reader.integer(UInt8.self) {
        case 1:
            let (stretched, salt) = (try reader.read(SecretBytes.self), try reader.read(Data.self))
            guard stretched.count == 32, salt.count == Self.saltSize else { throw FrameError("a password's key") }
            self = .password(
                stretched: stretched, salt: Array(salt),
                cost: Argon2Cost(memoryKiB: try reader.read(), passes: try reader.read()))
        case 2: self = .recoveryKey
        case 3: self = .thisVault
        default: throw FrameError("unknown seal of a backup")
        }
    }
}

/// What is in a backup, or came out of one.
package struct BackupSummary: WireValue, Equatable {
    /// Items that are in the backup, or that were restored from it.
    package var items: Int
    /// Items that are not in it because they are for one device only, or that were not restored because the vault has a
    /// newer form of them.
    package var leftOut: Int
    /// Items that are not in it because they are damaged.
    package var damaged: Int

    package init(items: Int = 0, leftOut: Int = 0, damaged: Int = 0) {
        self.items = items
        self.leftOut = leftOut
        self.damaged = damaged
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(items, leftOut, damaged) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        self.init(items: try reader.read(), leftOut: try reader.read(), damaged: try reader.read())
    }
}
