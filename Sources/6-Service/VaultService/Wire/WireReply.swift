import Access
import FoundationEssentials
import KeychainModel
import VaultInterface

/// What the server answers when it did what it was asked. Items that a search found come before it, in
/// frames of their own.
package enum WireReply: Sendable, Equatable {
    case done
    case item(StoredItem)
    /// How many items were found, changed or deleted.
    case count(Int)
    case flag(Bool)
    case status(VaultStatus)
    case report(IntegrityReport)
    case availability(PresenceAvailability)
    case proofs(PresenceProofs)
    case caller(CallerDescription)
    case auditReport(AuditReport)
    case bytes(Data)
    case enclaveKey(EnclaveKeyRecord)
    case secret(SecretBytes)
    case fileKey(SecretBytes, wrapped: Data)

    package func encode(to buffer: WireBuffer) {
        switch self {
        case .done: buffer.append(UInt8(0))
        case .item(let item):
            buffer.append(UInt8(1))
            buffer.append(item)
        case .count(let count):
            buffer.append(UInt8(2))
            buffer.append(UInt64(clamping: count))
        case .flag(let flag):
            buffer.append(UInt8(3))
            buffer.append(flag)
        case .status(let status):
            buffer.append(UInt8(4))
            buffer.append(status)
        case .report(let report):
            buffer.append(UInt8(5))
            buffer.append(report)
        case .availability(let availability):
            buffer.append(UInt8(6))
            buffer.append(availability)
        case .proofs(let proofs):
            buffer.append(UInt8(7))
            buffer.append(proofs.rawValue)
        case .caller(let caller):
            buffer.append(UInt8(8))
            caller.encode(to: buffer)
        case .auditReport(let report):
            buffer.append(UInt8(9))
            buffer.append(report)
        case .bytes(let bytes):
            buffer.append(UInt8(10))
            buffer.append(bytes)
        case .enclaveKey(let key):
            buffer.append(UInt8(11))
            buffer.append(key.encoded)
        case .secret(let secret):
            buffer.append(UInt8(12))
            buffer.append(secret)
        case .fileKey(let key, let wrapped):
            buffer.append(UInt8(13))
            buffer.append(key)
            buffer.append(wrapped)
        }
    }

    package init(from reader: inout WireReader) throws(WireError) {
        switch try reader.integer(UInt8.self) {
        case 0: self = .done
        case 1: self = .item(try reader.storedItem())
        case 2: self = .count(Int(clamping: try reader.integer(UInt64.self)))
        case 3: self = .flag(try reader.bool())
        case 4: self = .status(try reader.status())
        case 5: self = .report(try reader.integrityReport())
        case 6: self = .availability(try reader.presenceAvailability())
        case 7: self = .proofs(PresenceProofs(rawValue: try reader.integer(UInt8.self)))
        case 8: self = .caller(try CallerDescription(from: &reader))
        case 9: self = .auditReport(try reader.auditReport())
        case 10: self = .bytes(try reader.data())
        case 11: self = .enclaveKey(try reader.enclaveKeyRecord())
        case 12: self = .secret(try reader.secret())
        case 13: self = .fileKey(try reader.secret(), wrapped: try reader.data())
        default: throw WireError("unknown reply")
        }
        try reader.finish()
    }
}
