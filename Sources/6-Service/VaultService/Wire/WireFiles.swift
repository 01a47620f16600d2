import KeychainModel
import VaultInterface

extension WireReader {
    mutating func fileClass() throws(WireError) -> FileProtectionClass {
        guard let fileClass = FileProtectionClass(rawValue: try integer(UInt8.self)) else {
            throw WireError("unknown class of files")
        }
        return fileClass
    }

    mutating func lockEvent() throws(WireError) -> LockEvent {
        guard let event = LockEvent(rawValue: try integer(UInt8.self)) else {
            throw WireError("unknown change of the lock")
        }
        try finish()
        return event
    }
}
