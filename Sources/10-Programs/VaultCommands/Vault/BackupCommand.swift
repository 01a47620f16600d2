import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import Enclave
import FileCommands
import FoundationEssentials
import Keybag
import KeychainModel
import PasswordFiles
import PrivateFiles
import ProcessVault
import StatusCodes
import Vault
import VaultInterface

/// Makes and restores backups of the vault.
struct BackupCommand: DocumentedCommand {
    static let summary = "Make a backup of the vault, check one, or make a vault from one."
    static let details = """
        A backup is one sealed file. It has every item except those that are for this device only, as they were at one \
        moment, also while other programs write. A password opens it, or the vault's recovery key. If a daemon serves \
        the vault, the daemon makes the backup.

        With --for-this-device the file has the items for this device only, too, and nothing but this vault can \
        restore it. Items that exist only while a passcode is set (class akpu) are in no backup.

        The exit status is 65 if the backup was written, checked or restored and damaged items were left out. Any \
        other failure leaves no new file and no vault.
        """
    static let examples = [
        Example("Under a password, which you type twice", "keychain backup ~/keychain.backup"),
        Example(
            "Every night, without anybody", "keychain backup --to-recovery-key --force /media/backup/keychain.backup"),
        Example("See whether it can be restored", "keychain backup --verify ~/keychain.backup"),
        Example("On the new machine", "keychain backup restore ~/keychain.backup --enclave tpm2"),
    ]
    static let configuration = documented(
        "backup", subcommands: [MakeBackupCommand.self, RestoreBackupCommand.self],
        defaultSubcommand: MakeBackupCommand.self)
}

struct MakeBackupCommand: DocumentedCommand {
    static let summary = "Write a backup to a file, or check one; `create` can be left out."
    static let details = """
        The file is readable by its owner alone, and complete or not there at all. '-' writes to standard output. An \
        existing file stays, unless you say --force.

        With --to-recovery-key the backup is made also while the vault is locked, and nobody is asked; the vault needs \
        a recovery key (`keychain recovery create`).

        With --verify, every item of an existing backup is opened and checked, and nothing is written. The exit status \
        is 1 if the backup cannot be read, and 65 if items in it are damaged.
        """
    static let examples = [
        Example("From a script", "keychain backup ~/keychain.backup --password-fd 3 3< password"),
        Example("To another machine", "keychain backup --to-recovery-key - | ssh host 'cat > keychain.backup'"),
    ]
    static let configuration: CommandConfiguration = documented("create")

    @Argument(help: ArgumentHelp("The backup, or '-' for standard output.", valueName: "file"), completion: .file())
    var file: String

    @Flag(
        name: .customLong("to-recovery-key"), help: "The vault's recovery key opens the backup, instead of a password.")
    var toRecoveryKey = false

    @Flag(
        name: .customLong("for-this-device"),
        help: "Only this vault can restore the backup, which has the items for this device only, too.")
    var forThisDevice = false

    @Flag(help: "Check an existing backup instead of making one.")
    var verify = false

    @Flag(help: "Replace the file if it exists.")
    var force = false

    @OptionGroup var secrets: BackupSecrets

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    func validate() throws {
        if toRecoveryKey, forThisDevice {
            throw ValidationError("--to-recovery-key and --for-this-device exclude each other")
        }
        if verify, toRecoveryKey || forThisDevice || force {
            throw ValidationError("--verify finds out what opens the backup: leave out the other options")
        }
        if json, file == "-", !verify { throw ValidationError("--json needs the name of a file") }
    }

    private struct Answer: Encodable {
        var file: String
        var items: Int
        var leftOut: Int
        var damaged: Int
    }

    func run() throws {
        if verify { return try check() }
        if file == "-", StandardOutput.isTerminal {
            throw Failure(status: errSecParam, "a backup is binary and standard output is a terminal: name a file")
        }
        let path = BackupFile.path(file)
        if !force, file != "-", access(path, F_OK) == 0 { throw BackupFile.exists(path) }
        if file != "-" { try ConvertedOutput.refuseFileOfVault(path) }
        let session = try VaultSession.ofOwnerInPresentVault(passcode)
        let operation = MakeBackup(try seal())
        let progress = FileProgress(nil, amongData: file == "-")
        defer { progress.end() }
        var summary = BackupSummary()
        func make(_ descriptor: Int32) throws {
            summary = try session.perform(operation) { part throws(VaultError) in
                do throws(Failure) {
                    try FileOutput.write(part, to: descriptor)
                } catch {
                    throw error.status == errSecDiskFull
                        ? .diskFull(reason: error.message) : .inputOutput(reason: error.message)
                }
                progress.add(UInt64(clamping: part.count))
            }
        }
        if file == "-" {
            try make(1)
        } else {
            try BackupFile.write(to: path, isReplacing: force, make)
        }
        progress.end()
        if json {
            try StandardOutput.write(json: answer(path, summary))
        } else if file != "-" {
            try StandardOutput.write(line: Table(rows(path, summary)).text(aligned: true))
        }
        try summary.checkWhole("are not in the backup, which was written: see `keychain status --verify`")
    }

    private func answer(_ path: String, _ summary: BackupSummary) -> Answer {
        Answer(file: path, items: summary.items, leftOut: summary.leftOut, damaged: summary.damaged)
    }

    private func rows(_ path: String, _ summary: BackupSummary) -> [[String]] {
        var rows = [["backup", path.escapedForTerminal], ["items", "\(summary.items)"]]
        if summary.leftOut > 0 { rows.append(["for this device only, left out", "\(summary.leftOut)"]) }
        if summary.damaged > 0 { rows.append(["damaged, left out", "\(summary.damaged)"]) }
        return rows
    }

    private func seal() throws -> BackupSeal {
        if forThisDevice { return .thisVault }
        return toRecoveryKey ? .recoveryKey : try secrets.newSeal()
    }

    private func check() throws {
        let input = try BackupFile(file)
        let progress = FileProgress(input.size)
        defer { progress.end() }
        let backup = try input.open(progress)
        let summary: BackupSummary
        if backup.head.seal == .thisVault {
            summary = try BackupFile.ownVault(passcode).verify(backup, as: RecoveryCommand.owner)
        } else {
            summary = try EmbeddedVault.verify(backup, with: secrets.key(of: backup.head))
        }
        progress.end()
        if json {
            try StandardOutput.write(json: answer(input.path, summary))
        } else {
            try StandardOutput.write(line: Table(rows(input.path, summary)).text(aligned: true))
        }
        try summary.checkWhole("are in the backup, and a restore leaves them out: try an earlier one")
    }
}

struct RestoreBackupCommand: DocumentedCommand {
    static let summary = "Make a vault from a backup."
    static let details = """
        The vault is made at $KEYCHAIN_HOME or in the usual place, where no vault may be. It gets a new device secret \
        and no passcode. It is complete or not there at all.

        A backup that was made with --for-this-device is restored into the vault that made it, while no daemon serves \
        it. Items that are as new in the vault as in the backup, or newer, stay.

        Where programs use a daemon of another user, as the system's, KEYCHAIN_HOME has to name the folder.
        """
    static let examples = [
        Example("In the machine's TPM", "keychain backup restore ~/keychain.backup --enclave tpm2"),
        Example("In a script", "keychain backup restore keychain.backup --key-fd 3 3< recovery-key"),
    ]
    static let configuration: CommandConfiguration = documented("restore")

    @Argument(help: ArgumentHelp("The backup, or '-' for standard input.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var options: EnclaveOptions

    @OptionGroup var secrets: BackupSecrets

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    private struct Answer: Encodable {
        var vault: String
        var items: Int
        var damaged: Int
        var leftOut: Int
    }

    func run() throws {
        let kind = try EnclaveKind(named: options.enclave)
        let input = try BackupFile(file)
        let progress = FileProgress(input.size)
        defer { progress.end() }
        let backup = try input.open(progress)
        let isOwn = backup.head.seal == .thisVault
        let path = try isOwn ? ProcessVault.defaultPath() : FolderOfVault.path()
        let summary: BackupSummary
        if isOwn {
            let vault = try BackupFile.ownVault(passcode)
            try FolderOfVault.claim(path)
            summary =
                try vault
                .restore({ try input.open(progress) }, as: RecoveryCommand.owner)
        } else {
            summary = try EmbeddedVault.restore(
                backup, with: secrets.key(of: backup.head), to: path, in: kind, detectsRollback: options.detectRollback)
        }
        progress.end()
        if json {
            try StandardOutput.write(
                json: Answer(
                    vault: path, items: summary.items, damaged: summary.damaged, leftOut: summary.leftOut))
            return try summary.checkWhole(Self.leftOut)
        }
        var rows = [["vault", path.escapedForTerminal], ["items restored", "\(summary.items)"]]
        if summary.leftOut > 0 { rows.append(["as new in the vault, unchanged", "\(summary.leftOut)"]) }
        if summary.damaged > 0 { rows.append(["damaged, left out", "\(summary.damaged)"]) }
        if !isOwn { rows.append(["passcode", "not set: `keychain passcode set`"]) }
        try StandardOutput.write(line: Table(rows).text(aligned: true))
        try summary.checkWhole(Self.leftOut)
    }

    private static let leftOut =
        "were left out of the vault, which has the others: an earlier backup may have them whole"
}

extension BackupSummary {
    /// Fails if items are damaged, so that a job at night does not pass for one that saved everything.
    fileprivate func checkWhole(_ consequence: String) throws {
        guard damaged > 0 else { return }
        throw Failure(
            status: errSecDecode, exitCode: ExitStatus.damaged,
            "damaged items, \(damaged) of them, \(consequence)")
    }
}

/// What opens a backup, as a person gives it.
struct BackupSecrets: ParsableArguments {
    @OptionGroup var password: PasswordInput

    @OptionGroup var recoveryKey: RecoveryKeyInput

    /// The seal of a new backup under a password, typed twice.
    func newSeal() throws -> BackupSeal {
        let salt = [UInt8].random(count: BackupSeal.saltSize)
        let secret = try password.askNew()
        guard case let cost = try PasswordCost.suitable(), case .argon2id(let memoryKiB, let passes) = cost else {
            throw Failure.memory
        }
        return .password(
            stretched: try Self.stretched(secret, salt, cost), salt: salt,
            cost: Argon2Cost(memoryKiB: memoryKiB, passes: passes))
    }

    /// The key of a backup that is not for its own vault alone.
    func key(of head: BackupHead) throws -> RecoveryKey {
        guard case .password(let salt, let cost, _) = head.seal else { return try recoveryKey.ask() }
        let stretching = PasswordCost.argon2id(memoryKiB: cost.memoryKiB, passes: cost.passes)
        guard stretching.isAcceptable else {
            throw VaultError.corruptBackup(reason: "one try of its password would take too much memory or time")
        }
        return try RecoveryKey(stretched: Self.stretched(password.ask(), salt, stretching))
    }

    private static func stretched(
        _ password: SecretBytes, _ salt: [UInt8], _ cost: PasswordCost
    ) throws -> SecretBytes {
        do {
            return try cost.stretch(password, salt: salt)
        } catch {
            throw Failure(
                status: errSecAllocate, exitCode: ExitStatus.other,
                "one try of the password takes \(cost.memory >> 20) MiB of memory, which is not available: free some")
        }
    }
}

/// A backup in a file.
struct BackupFile {
    /// The path, or what standard input is called.
    let path: String
    private let descriptor: Int32
    /// Nil if it is not known.
    let size: UInt64?

    init(_ file: String) throws {
        guard file != "-" else {
            (path, descriptor, size) = ("standard input", 0, nil)
            return
        }
        path = Self.path(file)
        descriptor = CLibrary.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("cannot be opened", path) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw Self.failure("cannot be examined", path) }
        size = UInt64(clamping: max(0, info.st_size))
    }

    /// Begins to read, at the start of a file.
    func open(_ progress: FileProgress) throws -> BackupReader {
        if size != nil, lseek(descriptor, 0, SEEK_SET) < 0 { throw Self.failure("cannot be read", path) }
        let (path, descriptor) = (path, descriptor)
        return try BackupReader { count in
            var bytes = Data(count: count)
            let filled = bytes.withUnsafeMutableBytes { SystemCall.readAll(into: $0, from: descriptor) }
            guard filled >= 0 else {
                throw VaultError.inputOutput(reason: Self.failure("cannot be read", path).message)
            }
            progress.add(UInt64(clamping: filled))
            return bytes.prefix(filled)
        }
    }

    /// Returns an absolute path, for messages and answers.
    static func path(_ file: String) -> String {
        file.hasPrefix("/") ? file : URL(fileURLWithPath: file).path
    }

    static func exists(_ path: String) -> Failure {
        Failure(
            status: errSecDuplicateItem,
            "\(path.escapedForTerminal) exists already: choose another name, or replace it with --force")
    }

    static func write(to path: String, isReplacing: Bool, _ body: (Int32) throws -> Void) throws {
        do {
            try FileReplacement.make(
                path, by: "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max))", isReplacing: isReplacing, body)
        } catch let error as FileReplacement.Failure {
            if error.errno == EEXIST { throw exists(path) }
            errno = error.errno
            throw failure("cannot be written", path)
        }
    }

    /// The vault that may restore its own backups: in this process, unlocked.
    static func ownVault(_ passcode: PasscodeInput) throws -> EmbeddedVault {
        guard let vault = try VaultSession.ofOwnerInPresentVault(passcode).vault as? EmbeddedVault
        else {
            throw Failure(
                status: errSecNotAvailable,
                "a daemon serves the vault: stop it to work with a backup that was made with --for-this-device, and name "
                    + "its folder with KEYCHAIN_HOME")
        }
        let status = try vault.perform(ReadStatus(), as: RecoveryCommand.owner)
        if status.isPasscodeSet, status.lockState != .unlocked {
            try vault.perform(UnlockVault(with: passcode.ask("The vault is locked.")), as: RecoveryCommand.owner)
        }
        return vault
    }

    private static func failure(_ what: String, _ path: String) -> Failure {
        let code = errno
        return Failure(
            status: code == ENOSPC || code == EDQUOT ? errSecDiskFull : errSecIO, exitCode: ExitStatus.other,
            "\(path.escapedForTerminal) \(what) (\(String(cString: strerror(code)))): check the path and its "
                + "permissions")
    }
}
