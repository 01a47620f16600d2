import ArgumentParser
import Bytes
import CommandKit
import FoundationEssentials
import PasswordFiles
import ProtectedFiles

/// Decrypts files that were encrypted with a password, by this program and by others.
struct DecryptFileCommand: DocumentedCommand {
    static let summary = "Decrypt files that were encrypted with a password."
    static let details = """
        Reads what `keychain file encrypt` wrote, what `age --passphrase` wrote, armored or not, and with --iterations \
        what `openssl enc -aes-256-cbc -pbkdf2` wrote. Each file is written under its name without \
        '\(PasswordFile.suffix)', '.age' or '.enc', or where --output says, readable by its owner alone. It gets its \
        name only after all of it was checked. The original is kept.

        '-' reads standard input, and writes to standard output. There, each piece is checked before it is written: if \
        a file is damaged, the data written before is right, and the exit status tells that the rest is missing. Files \
        of openssl cannot be checked: anybody who could write to one may have changed it, and a wrong password is not \
        always noticed.
        """
    static let examples = [
        Example("A file from a USB stick", "keychain file decrypt /media/stick/tax.kcp --output tax.pdf"),
        Example("A folder", "keychain file decrypt records.tar.kcp --output - | tar -x"),
        Example("A file of age", "keychain file decrypt notes.txt.age"),
        Example("A file of openssl", "keychain file decrypt old.tar.enc --iterations 10000"),
    ]
    static let configuration: CommandConfiguration = documented("decrypt")

    @Argument(help: ArgumentHelp("Encrypted files, or '-' for standard input.", valueName: "file"), completion: .file())
    var paths: [String]

    @OptionGroup var target: OutputOptions

    @OptionGroup var password: PasswordInput

    @Option(
        help: ArgumentHelp(
            "The number that openssl got with -iter, or 10000 if it got only -pbkdf2. The digest has to be SHA-256.",
            valueName: "n"))
    var iterations: UInt32?

    @Flag(help: .json)
    var json = false

    func validate() throws { try target.validate(paths, json: json) }

    private var isToStandardOutput: Bool { target.isStandardOutput(for: paths) }

    private struct Answer: Encodable {
        var path: String
        var output: String
        var bytes: UInt64
        var form: String
        /// Whether a change of the file would have been noticed.
        var authenticated: Bool
    }

    private struct Work {
        let input: InputBytes
        let path: String
        let form: PasswordFile.Form
        let output: ConvertedOutput
    }

    func run() throws {
        let work = try paths.map { try prepare($0) }
        let secret = try password.ask()
        let progress = FileProgress(
            work.reduce(0) { $0 + $1.input.size }, amongData: isToStandardOutput && StandardOutput.isTerminal)
        defer { progress.end() }
        var answers: [Answer] = []
        for work in work {
            let bytes = try decrypt(work, secret, progress)
            answers.append(
                Answer(
                    path: work.input.path, output: work.output.name, bytes: bytes, form: work.form.rawValue,
                    authenticated: work.form != .openssl))
        }
        progress.end()
        if json { return try StandardOutput.write(json: answers) }
        for answer in answers {
            if !isToStandardOutput { try StandardOutput.write(line: "\(answer.output.escapedForTerminal) written") }
            guard !answer.authenticated else { continue }
            let note =
                "keychain: nothing in \(answer.path.escapedForTerminal) shows whether somebody changed it\n"
            try FileOutput.write(Data(note.utf8), to: 2)
        }
    }

    private func prepare(_ path: String) throws -> Work {
        let input = path == "-" ? InputBytes(0, named: "standard input") : try InputBytes(path)
        let form = try PasswordFile.form(of: input)
        let output = try ConvertedOutput(target, for: path, suggestion: Self.suggestion(for: path))
        if form == .openssl, iterations == nil {
            throw Failure.usage(
                "\(input.path.escapedForTerminal) is a file of openssl, which does not say how its key is derived: "
                    + "give --iterations with the number of -iter, or with 10000 if only -pbkdf2 was given")
        }
        if form == .keychain, path != "-" {
            _ = try PasswordFileHeader(path)
        }
        return Work(input: input, path: path, form: form, output: output)
    }

    /// Returns the name without the ending that says that the file is encrypted.
    private static func suggestion(for path: String) -> String? {
        for suffix in [PasswordFile.suffix, ".age", ".enc"] where path.hasSuffix(suffix) {
            let name = String(path.dropLast(suffix.count))
            if !name.isEmpty, !name.hasSuffix("/") { return name }
        }
        return nil
    }

    /// Decrypts one file and returns its size in bytes.
    private func decrypt(
        _ work: Work, _ secret: SecretBytes, _ progress: FileProgress
    ) throws(SealedFileError) -> UInt64 {
        var length: UInt64 = 0
        func pass(
            to write: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void
        ) throws(SealedFileError) {
            try decrypt(work, secret) { (bytes) throws(SealedFileError) in
                try write(bytes)
                length += UInt64(clamping: bytes.count)
                progress.add(UInt64(clamping: bytes.count))
            }
        }
        switch work.output {
        case .standardOutput: try pass(to: ConvertedOutput.writeStandard)
        case .file(let path):
            let writer = try PlainFileWriter(path)
            try pass { (bytes) throws(SealedFileError) in try writer.write(bytes) }
            try writer.finish(replacing: target.force)
        }
        return length
    }

    private func decrypt(
        _ work: Work, _ secret: SecretBytes, write: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        switch work.form {
        case .age: try AgeFile(work.input, path: work.input.path).decrypt(secret, write: write)
        case .openssl:
            try OpenSSLFile(work.input, path: work.input.path, iterations: iterations ?? 0)
                .decrypt(secret, write: write)
        case .keychain:
            let keys = try PasswordFileKeys(secret)
            guard work.path == "-" else {
                return try PasswordFile.decrypt(SealedFile(work.path, .reading, password: keys), write: write)
            }
            // The file is read at more than one place, which a pipe does not allow.
            let copy = try PlainFileWriter(TemporaryPlace.path)
            while true {
                let piece = try work.input.read(1 << 20)
                guard !piece.isEmpty else { break }
                try piece.withBytes { (bytes) throws(SealedFileError) in try copy.write(bytes) }
            }
            guard let path = copy.temporaryPath else {
                throw .unreadable(path: work.input.path, reason: "there is no /proc; name a file")
            }
            try PasswordFile.decrypt(SealedFile(path, .reading, password: keys), write: write)
        }
    }
}
