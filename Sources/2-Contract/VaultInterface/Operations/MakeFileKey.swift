import Access
import FoundationEssentials
import Frames
import KeychainModel

/// Makes a fresh key for a file.
///
/// The vault keeps no key of a file. The file system decides which files a program may read; the vault decides when.
/// Any client with an access group may have keys made and opened.
///
/// - Throws: ``VaultError/interactionNotAllowed(reason:)`` while the class is closed.
package struct MakeFileKey: UnaryOperation {
    package var fileClass: FileProtectionClass
    /// The file's identifier: 16 bytes that never change.
    package var file: Data

    package init(for fileClass: FileProtectionClass, file: Data) {
        self.fileClass = fileClass
        self.file = file
    }

    package typealias Reply = FileKey

    package static let number: UInt8 = 26
    package static let name = "make-file-key"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        try engine.fileKeys.make(self, as: client)
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(fileClass, file) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        fileClass = try reader.read()
        file = try reader.read()
    }
}
