import Access
import Bytes
import FoundationEssentials
import Frames
import KeychainModel

/// Opens the key of a file, which was wrapped for it under its class. The key has 32 bytes.
///
/// - Throws: ``VaultError/interactionNotAllowed(reason:)`` while the class is closed, and
///   ``VaultError/corruptFileKey`` if `wrapped` was not made for this file, class and vault.
package struct OpenFileKey: UnaryOperation {
    package var fileClass: FileProtectionClass
    package var file: Data
    package var wrapped: Data

    package init(for fileClass: FileProtectionClass, file: Data, wrapped: Data) {
        self.fileClass = fileClass
        self.file = file
        self.wrapped = wrapped
    }

    package static let number: UInt8 = 27
    package static let name = "open-file-key"
    package static let traits: OperationTraits = [.repeatable, .usesClassKeys]

    /// The key of a file.
    package struct Reply: WireValue {
        /// 32 bytes.
        package var key: SecretBytes

        package init(key: SecretBytes) { self.key = key }

        package func encode(to buffer: FrameBuffer) { buffer.write(key) }

        package init(from reader: inout FrameReader) throws(FrameError) {
            key = try reader.read()
            guard key.count == FileKey.size else { throw FrameError("the key of a file has another length") }
        }
    }

    package func perform(by engine: any VaultEngine, as client: Client, send: Sink<Never>) throws(VaultError) -> Reply {
        Reply(key: try engine.fileKeys.open(self, as: client))
    }

    package func encode(to buffer: FrameBuffer) { buffer.write(fileClass, file, wrapped) }

    package init(from reader: inout FrameReader) throws(FrameError) {
        fileClass = try reader.read()
        file = try reader.read()
        wrapped = try reader.read()
    }
}
