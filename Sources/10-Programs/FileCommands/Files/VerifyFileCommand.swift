import ArgumentParser
import CommandKit
import ProtectedFiles
import VaultInterface

/// Opens everything in protected files, and names what is damaged.
struct VerifyFileCommand: DocumentedCommand {
    static let summary = "Check that protected files are whole and unchanged."
    static let details = """
        Everything is opened and nothing is changed. A whole file that was replaced by an older copy of itself is not \
        noticed.
        """
    static let examples = [Example("A folder", "keychain file verify ~/Records")]
    static let configuration: CommandConfiguration = documented("verify")

    @Argument(help: "Files and folders.", completion: .file())
    var paths: [String]

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let keys = try presentFileKeys(passcode)
        try FileWork.run(paths, verb: "sound", otherwise: "not protected", json: json, marks: true) {
            (found, progress) throws(SealedFileError) in
            let path = found.path
            let file: SealedFile
            do throws(SealedFileError) {
                file = try SealedFile(path, .reading, keys: keys)
            } catch {
                guard case .notProtected = error else { throw error }
                return .skipped
            }
            defer { file.close() }
            var last: UInt64 = 0
            let report = try file.verify { bytes in
                progress(bytes - last)
                last = bytes
                return true
            }
            guard report.isSound else {
                throw .damaged(path: path, part: report.damage.first ?? .header)
            }
            return .done
        }
    }
}
