import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Wraps the key of a file under another class, so that the file's contents stay as they are.
///
/// - Throws: As ``OpenFileKey`` for the one class, and as ``MakeFileKey`` for the other.
package struct RewrapFileKey: UnaryOperation {
    package var present: FileProtectionClass
    package var next: FileProtectionClass
    package var file: Data
    package var wrapped: Data

    package init(from present: FileProtectionClass, to next: FileProtectionClass, file: Data, wrapped: Data) {
        self.present = present
        self.next = next
        self.file = file
        self.wrapped = wrapped
    }

    package typealias Reply = Data

    package static let number: UInt8 = 28
    package static let name = "rewrap-file-key"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.fileKeys.rewrap(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(present, next, file, wrapped) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        present = try reader.read()
        next = try reader.read()
        file = try reader.read()
        wrapped = try reader.read()
    }
}
