import ArgumentParser
import Bytes
import CommandKit
import FoundationEssentials
import ProtectedFiles
import SystemLibraries
import VaultInterface

/// Writes the data of protected files to standard output.
struct CatCommand: DocumentedCommand {
    static let summary = "Write the data of protected files to standard output."
    static let details = """
        Each piece is checked before it is written. If a file is damaged, the data written before is right, and the \
        exit status tells that the rest is missing.
        """
    static let examples = [Example("Look at a text", "keychain file cat ~/Records/notes.txt | less")]
    static let configuration: CommandConfiguration = documented("cat")

    @Argument(help: "Protected files.", completion: .file())
    var paths: [String]

    @OptionGroup var passcode: PasscodeInput

    func run() throws {
        let keys = try presentFileKeys(passcode)
        let isAlone = Processors.count == 1
        for path in paths {
            let file = try SealedFile(path, .reading, keys: keys)
            defer { file.close() }
            if isAlone { try writeChunks(file) } else { try writePieces(file) }
        }
    }

    /// With one processor, collecting the data into larger pieces would gain nothing.
    private func writeChunks(_ file: SealedFile) throws {
        var offset: UInt64 = 0
        while true {
            var written = Result<Void, any Error>.success(())
            let count = try file.readChunk(at: offset) { bytes in written = Result { try write(bytes) } }
            try written.get()
            guard count > 0 else { return }
            offset += UInt64(clamping: count)
        }
    }

    /// Writes pieces of many chunks, which all processors open.
    private func writePieces(_ file: SealedFile) throws {
        // One buffer for all pieces.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer {
            SecretBytes.wipe(buffer)
            buffer.deallocate()
        }
        var offset: UInt64 = 0
        while true {
            let count = try file.read(into: buffer, at: offset)
            guard count > 0 else { return }
            try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += UInt64(clamping: count)
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let base = bytes.baseAddress else { return }
        try StandardOutput.write(
            Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count, deallocator: .none))
    }
}
