import Frames
import KeychainModel

extension WireReader {
    package mutating func fileClass() throws(WireError) -> FileProtectionClass {
        guard let fileClass = FileProtectionClass(rawValue: try integer(UInt8.self)) else {
            throw WireError("unknown class of files")
        }
        return fileClass
    }

    package mutating func lockEvent() throws(WireError) -> LockEvent {
        guard let event = LockEvent(rawValue: try integer(UInt8.self)) else {
            throw WireError("unknown change of the lock")
        }
        try finish()
        return event
    }
}
