import ArgumentParser
import CommandKit
import KeychainModel
import ProtectedFiles
import Synchronization
import VaultInterface

/// Moves protected files to another class.
struct SetClassCommand: DocumentedCommand {
    static let summary = "Move protected files to another class."
    static let details = """
        The key of each file is wrapped again and its data stay as they are, so that a large file takes no longer than \
        a small one. Both classes have to be open. A copy of a file that somebody made before, or of its header, still \
        opens the data as its former class allowed.

        With --new-key the data of each file are sealed again under a new key, which no such copy opens. There has to \
        be room for the largest files that are done at the same time. A file with several names (hard links) is \
        refused, and so is one that a program has open for writing. Who has a file open for reading keeps the former \
        one.
        """
    static let examples = [
        Example("Readable only while unlocked from now on", "keychain file set-class ~/Records --class complete"),
        Example(
            "So that former copies open nothing of it", "keychain file set-class tax.pdf --class complete --new-key"),
        Example("A new key in the same class", "keychain file set-class tax.pdf --new-key"),
    ]
    static let configuration: CommandConfiguration = documented("set-class")

    @Argument(help: "Files and folders.", completion: .file())
    var paths: [String]

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "complete, complete-unless-open, until-first-unlock or none. With --new-key it can be left out.",
            valueName: "class"))
    var className: String?

    @Flag(name: .customLong("new-key"), help: "Seal the data again under a new key.")
    var newKey = false

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        if className == nil, !newKey { throw ValidationError("name a class with --class, or say --new-key") }
    }

    func run() throws {
        let fileClass = try className.map { try FileProtectionClass(commandName: $0) }
        let keys = try presentFileKeys(passcode)
        guard let fileClass, !newKey else { return try renewKeys(fileClass, keys) }
        let isStricter = Mutex(false)
        defer {
            if isStricter.withLock({ $0 }) {
                CommandNote.show(
                    "a copy of a file that was made before still opens its data as before: --new-key seals them again")
            }
        }
        try FileWork.run(paths, verb: "put into class \(fileClass.commandName)", otherwise: "in it already", json: json)
        {
            (found, _) throws(SealedFileError) in
            let path = found.path
            guard !found.isSymbolicLink else { throw .symbolicLink(path: path) }
            if let former = try MountedClass.read(path) {
                guard former != fileClass else { return .skipped }
                try MountedClass.write(fileClass, path)
                if fileClass.isStricter(than: former) { isStricter.withLock { $0 = true } }
                return .done
            }
            let file = try SealedFile(path, .writing, keys: keys, durability: .power)
            defer { file.close() }
            guard try file.fileIdentity == found.identity else { throw .changed(path: path) }
            let former = try file.fileClass
            guard former != fileClass else { return .skipped }
            try file.changeClass(to: fileClass, keys: keys)
            if fileClass.isStricter(than: former) { isStricter.withLock { $0 = true } }
            return .done
        }
    }

    private func renewKeys(_ fileClass: FileProtectionClass?, _ keys: any FileKeySource) throws {
        let conversion = FileConversion(keys: keys)
        let place = fileClass.map { ", in class \($0.commandName)" } ?? ""
        try FileWork.run(paths, verb: "sealed under a new key\(place)", otherwise: "left alone", json: json) {
            (found, progress) throws(SealedFileError) in
            let path = found.path
            guard !found.isSymbolicLink else { throw .symbolicLink(path: path) }
            guard try MountedClass.read(path) == nil else { throw .belowMount(path: path) }
            try conversion.renewKey(path, movingTo: fileClass, expecting: found.identity, progress: progress)
            return .done
        }
    }
}
