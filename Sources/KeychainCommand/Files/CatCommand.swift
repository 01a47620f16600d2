import ArgumentParser
import Foundation
import KeychainModel
import KeychainServices
import ProtectedFiles
import VaultInterface

/// Writes the data of protected files to standard output.
struct CatCommand: DocumentedCommand {
    static let summary = "Write what is in protected files to standard output."
    static let details = """
        Each piece is checked before it is written; where a file turns out to be damaged, what came before was right and \
        the exit status says so.
        """
    static let examples = [Example("Look at a text", "keychain file cat ~/Records/notes.txt | less")]
    static let configuration: CommandConfiguration = documented("cat")

    @Argument(help: "Protected files.")
    var paths: [String]

    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let session = try VaultSession.ofOwner(passcode)
        // In memory that is not asked for anew for each piece.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer {
            SecretBytes.wipe(buffer)
            buffer.deallocate()
        }
        for path in paths {
            let file = try handling { () throws(SealedFileError) in try SealedFile(path, .reading, keys: session) }
            defer { file.close() }
            var offset: UInt64 = 0
            while true {
                let count = try handling { () throws(SealedFileError) in try file.read(into: buffer, at: offset) }
                guard count > 0, let base = buffer.baseAddress else { break }
                try StandardOutput.write(Data(bytesNoCopy: base, count: count, deallocator: .none))
                offset += UInt64(count)
            }
        }
    }
}
