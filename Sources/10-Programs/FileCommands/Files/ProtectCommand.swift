import ArgumentParser
import CommandKit
import KeychainModel
import ProtectedFiles
import VaultInterface

/// Puts plain files into a protection class, in place.
struct ProtectCommand: DocumentedCommand {
    static let summary = "Protect files, or all files in folders, in place."
    static let details = """
        Files that are protected already stay as they are, in any class; `keychain file set-class` changes it. There \
        has to be room for the largest files that are done at the same time.
        """
    static let examples = [
        Example("A folder", "keychain file protect ~/Records --class complete"),
        Example("Files for work in the background", "keychain file protect state.db --class until-first-unlock"),
    ]
    static let configuration: CommandConfiguration = documented("protect")

    @Argument(help: "Files and folders.", completion: .file())
    var paths: [String]

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "complete, complete-unless-open, until-first-unlock (unless given) or none.", valueName: "class"))
    var className: String?

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let named = try className.map { try FileProtectionClass(commandName: $0) }
        let conversion = FileConversion(keys: try VaultSession.ofOwner(passcode))
        try FileWork.run(paths, verb: "protected", otherwise: "protected already", json: json) {
            (file, progress) throws(SealedFileError) in
            // A file that looks plain in a mounted folder is protected in the folder below.
            if let found = try MountedClass.read(file.path) {
                return named ?? found == found ? .skipped : .inAnotherClass
            }
            do throws(SealedFileError) {
                try conversion.protect(
                    file.path, named ?? .completeUntilFirstUserAuthentication, expecting: file.identity,
                    progress: progress)
                return .done
            } catch {
                guard case .alreadyProtected = error else { throw error }
                let found = try SealedFileInfo(file.path).fileClass
                return named ?? found == found ? .skipped : .inAnotherClass
            }
        }
    }
}

/// Makes protected files plain again.
struct UnprotectCommand: DocumentedCommand {
    static let summary = "Make protected files plain again, in place."
    static let details = """
        Files that are not protected stay as they are. Files below a mounted folder are refused: copy them out of the \
        mounted folder.
        """
    static let examples = [Example("A folder", "keychain file unprotect ~/Records")]
    static let configuration: CommandConfiguration = documented("unprotect")

    @Argument(help: "Files and folders.", completion: .file())
    var paths: [String]

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let keys = try presentFileKeys(passcode)
        let conversion = FileConversion(keys: keys)
        try FileWork.run(paths, verb: "made plain", otherwise: "plain already", json: json) {
            (file, progress) throws(SealedFileError) in
            if try FolderRecord.read(beside: file.path, keys: keys)?.encryptsNames == true {
                throw .belowMount(path: file.path)
            }
            do throws(SealedFileError) {
                try conversion.unprotect(file.path, expecting: file.identity, progress: progress)
                return .done
            } catch {
                guard case .notProtected = error else { throw error }
                return .skipped
            }
        }
    }
}
