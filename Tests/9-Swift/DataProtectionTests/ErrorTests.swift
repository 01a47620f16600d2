import DataProtection
import Foundation
import Glibc
import TestSupport
import Testing

/// What errors say.
@Suite struct ErrorTests {
    @Test(arguments: [
        (ProtectedFileError.Code.fileNotFound, CocoaError.Code.fileReadNoSuchFile, CocoaError.Code.fileNoSuchFile),
        (.locked, .fileReadNoPermission, .fileWriteNoPermission),
        (.permissionDenied, .fileReadNoPermission, .fileWriteNoPermission),
        (.accessDenied, .fileReadNoPermission, .fileWriteNoPermission),
        (.fileExists, .fileWriteFileExists, .fileWriteFileExists),
        (.diskFull, .fileWriteOutOfSpace, .fileWriteOutOfSpace),
        (.readOnly, .fileWriteVolumeReadOnly, .fileWriteVolumeReadOnly),
        (.damaged, .fileReadCorruptFile, .fileReadCorruptFile),
        (.busy, .fileLocking, .fileLocking),
        (.tooLarge, .fileReadTooLarge, .fileWriteUnknown),
        (.unsupported, .featureUnsupported, .featureUnsupported),
        (.taskCanceled, .userCancelled, .userCancelled),
        (.inputOutput, .fileReadUnknown, .fileWriteUnknown),
    ])
    func cocoa(_ code: ProtectedFileError.Code, reading: CocoaError.Code, writing: CocoaError.Code) {
        let error = ProtectedFileError(code, path: "/a/file", message: "what happened; what to do")
        #expect(error.cocoaError(reading: true).code == reading)
        let cocoa = error.cocoaError(reading: false)
        #expect(cocoa.code == writing)
        #expect(cocoa.filePath == "/a/file")
        #expect(cocoa.underlying as? ProtectedFileError == error)
        #expect(cocoa.localizedDescription == "what happened; what to do")
        #expect(error.localizedDescription == "what happened; what to do")
        #expect("\(error)" == "what happened; what to do (\(code))")
    }

    /// In a process whose files may have 300 KB, and as a user who may not write.
    @Test func aDiskThatIsFull() throws {
        let folder = try TemporaryFolder()
        let binary = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "DataWorker").path
        let script = """
            mount -t tmpfs -o size=8m tmpfs "$1" && export KEYCHAIN_HOME="$1/vault" && \
            "$0" write "$1/file" 1 && "$0" write "$1/file" 20; "$0" chunks "$1/file"; ls -A "$1"
            """
        let worker = try Worker(["-rm", "sh", "-c", script, binary, folder.path], command: "unshare")
        let lines = worker.remainingLines()
        #expect(lines.count == 5, "\(lines)")
        #expect(lines[1] == "error diskFull")
        // The old contents are there, and nothing else.
        #expect(lines[2].hasPrefix("\(1 << 20) "))
        #expect(lines[3...] == ["file", "vault"])
    }
}
