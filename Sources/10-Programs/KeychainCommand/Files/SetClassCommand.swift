import ArgumentParser
import KeychainModel
import ProtectedFiles
import VaultInterface

/// Moves protected files to another class.
struct SetClassCommand: DocumentedCommand {
    static let summary = "Move protected files to another class."
    static let details = """
        The key of each file is wrapped again and its data stay as they are, so that a large file takes no longer than \
        a small one. Both classes have to be open.
        """
    static let examples = [
        Example("Readable only while unlocked from now on", "keychain file set-class ~/Records --class complete")
    ]
    static let configuration: CommandConfiguration = documented("set-class")

    @Argument(help: "Files and folders.", completion: .file())
    var paths: [String]

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp("complete, complete-unless-open, until-first-unlock or none.", valueName: "class"))
    var className: String

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func run() throws {
        let fileClass = try FileProtectionClass(commandName: className)
        let session = try VaultSession.ofOwner(passcode)
        try FileWork.run(paths, verb: "put into class \(fileClass.commandName)", otherwise: "in it already", json: json)
        {
            (found, _) throws(SealedFileError) in
            let path = found.path
            guard !found.isSymbolicLink else { throw .symbolicLink(path: path) }
            if let former = try MountedClass.read(path) {
                guard former != fileClass else { return .skipped }
                try MountedClass.write(fileClass, path)
                return .done
            }
            let file = try SealedFile(path, .writing, keys: session, durability: .power)
            defer { file.close() }
            guard try file.fileIdentity == found.identity else { throw .changed(path: path) }
            guard try file.fileClass != fileClass else { return .skipped }
            try file.changeClass(to: fileClass, keys: session)
            return .done
        }
    }
}
