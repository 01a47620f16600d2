import ArgumentParser
import Bytes
import CommandKit
import PasswordFiles
import ProtectedFiles
import StatusCodes
import SystemLibraries

/// Encrypts files with a password.
struct EncryptFileCommand: DocumentedCommand {
    static let summary = "Encrypt files with a password, to read them anywhere."
    static let details = """
        Each copy is written under the file's name with '\(PasswordFile.suffix)' added, or where --output says, \
        readable by its owner alone. The original is kept. Reading the copy takes the password, and this program or \
        another that follows the published format, but nothing of this machine's keychain. Nobody can read it without \
        the password.

        You type the password twice; it has at least one character. One try of a password takes 256 MiB of memory and \
        a quarter of a second or more. Permissions, times and names are not in the copy: pack folders with tar first. \
        '-' reads standard input, and writes to standard output.
        """
    static let examples = [
        Example("A file for a USB stick", "keychain file encrypt tax.pdf --output /media/stick/tax.kcp"),
        Example("A folder", "tar -c Records | keychain file encrypt - --output records.tar.kcp"),
        Example(
            "A protected file",
            "keychain file cat ~/Records/tax.pdf |\n  keychain file encrypt - --output tax.pdf.kcp"),
    ]
    static let configuration: CommandConfiguration = documented("encrypt")

    @Argument(help: ArgumentHelp("Plain files, or '-' for standard input.", valueName: "file"), completion: .file())
    var paths: [String]

    @OptionGroup var target: OutputOptions

    @OptionGroup var password: PasswordInput

    @Option(
        help: ArgumentHelp(
            "The memory in MiB that one try of a password takes, instead of 256. Needs --passes.", valueName: "MiB"))
    var memory: UInt32?

    @Option(help: ArgumentHelp("How often a try goes over that memory. Needs --memory.", valueName: "n"))
    var passes: UInt32?

    @Flag(help: .json)
    var json = false

    func validate() throws {
        try target.validate(paths, json: json)
        guard (memory == nil) == (passes == nil) else { throw ValidationError("--memory and --passes go together") }
        if let cost, !cost.isAcceptable {
            throw ValidationError("--memory is at most 1024, --passes at most 64, and their product at most 16384")
        }
    }

    private var isToStandardOutput: Bool { target.isStandardOutput(for: paths) }

    private var cost: PasswordCost? {
        guard let memory, let passes else { return nil }
        return .argon2id(memoryKiB: memory > 4096 ? .max : memory << 10, passes: passes)
    }

    private struct Answer: Encodable {
        var path: String
        var output: String
        var bytes: UInt64
    }

    func run() throws {
        var work: [(input: InputBytes, output: ConvertedOutput)] = []
        for path in paths {
            let output = try ConvertedOutput(target, for: path, suggestion: path + PasswordFile.suffix)
            work.append((try Self.open(path), output))
        }
        if case .standardOutput? = work.first?.output, StandardOutput.isTerminal {
            throw Failure(
                status: errSecParam, "an encrypted file is binary and standard output is a terminal: send it to a file")
        }
        let secret = try password.askNew()
        let keys = try PasswordFileKeys(secret, cost: cost).measured()
        let progress = FileProgress(work.reduce(0) { $0 + $1.input.size })
        var answers: [Answer] = []
        defer { progress.end() }
        for (input, output) in work {
            let bytes = try encrypt(input, to: output, keys, progress)
            answers.append(Answer(path: input.path, output: output.name, bytes: bytes))
        }
        progress.end()
        if json { return try StandardOutput.write(json: answers) }
        GuessingTime(secret, memory: Int(memory ?? 256), passes: Int(passes ?? 3)).show(
            "password", with: "the file", ifForgotten: "If it is forgotten, nothing opens the file")
        guard !isToStandardOutput else { return }
        for answer in answers {
            let isReplaced = answer.output == answer.path
            let kept =
                answer.path == Self.standardInput || isReplaced ? "" : "; \(answer.path.escapedForTerminal) is kept"
            try StandardOutput.write(line: "\(answer.output.escapedForTerminal) written\(kept)")
        }
    }

    private static let standardInput = "standard input"

    private static func open(_ path: String) throws -> InputBytes {
        guard path != "-" else { return InputBytes(0, named: standardInput) }
        let name = path.escapedForTerminal
        do throws(SealedFileError) {
            _ = try SealedFileInfo(path)
        } catch {
            switch error {
            case .notProtected: return try InputBytes(path)
            case .encryptedWithPassword:
                throw Failure(
                    status: errSecDuplicateItem, "\(name) is encrypted with a password already: leave it as it is")
            default: throw error
            }
        }
        throw Failure(
            status: errSecDuplicateItem,
            "\(name) is protected by a keychain: pass on its data, as in "
                + "`keychain file cat … | keychain file encrypt - --output …`")
    }

    /// Encrypts one file and returns its size in bytes.
    private func encrypt(
        _ input: InputBytes, to output: ConvertedOutput, _ keys: PasswordFileKeys, _ progress: FileProgress
    ) throws(SealedFileError) -> UInt64 {
        switch output {
        case .file(let path):
            let writer = try SealedFileWriter(path, password: keys)
            try PasswordFile.encrypt(input, with: writer, progress: progress.add)
            let length = writer.length
            try writer.finish(replacing: target.force)
            return length
        case .standardOutput:
            // The beginning of the encrypted file is known only at its end.
            let writer = try SealedFileWriter(TemporaryPlace.path, password: keys, durability: .process)
            try PasswordFile.encrypt(input, with: writer, progress: progress.add)
            let length = writer.length
            try writer.finish(copyingWith: ConvertedOutput.writeStandard)
            return length
        }
    }
}

/// Where temporary files are, which have no name and are always encrypted.
enum TemporaryPlace {
    static var path: String { "\(Environment.value(of: "TMPDIR") ?? "/tmp")/keychain" }
}
