import ArgumentParser
import Bytes
import CLibrary
import CommandKit
import Connections
import Dispatch
import KeychainModel
import MountedFolder
import ProcessVault
import ProtectedFiles
import StatusCodes
import VaultInterface

/// Shows a folder of protected files as a folder of plain ones.
struct MountCommand: DocumentedCommand {
    static let summary = "Show a folder of protected files as a folder of plain ones."
    static let details = """
        Every program reads and writes plain files at the mount point. The folder below holds protected files with \
        encrypted names; an empty folder becomes one. A file can be read while its class is open. While the vault is \
        locked, files of class complete fail with 'permission denied', even if they are open already, and what the \
        kernel kept of them is dropped. Without keychaind no lock reaches them, and unmounting closes them.

        New files get the class of their folder, and new folders that of the folder they are in. The class is the \
        extended attribute user.keychain.class, and `keychain file set-class` changes it.

        The command returns when the folder is mounted, and goes on in the background until `keychain unmount`. \
        Changes reach the folder below when a file is closed or flushed. Sizes, times, owners, modes, extended \
        attributes and the number of files are not hidden. This needs FUSE 3 (Debian's package fuse3).
        """
    static let examples = [
        Example("Keep records that a lock closes", "keychain mount ~/.records ~/Records --class complete"),
        Example("See the classes of files", "keychain file info ~/Records"),
        Example("Change the class of a file", "keychain file set-class ~/Records/tax.pdf --class none"),
        Example("Take the mount away", "keychain unmount ~/Records"),
    ]
    static let configuration: CommandConfiguration = documented("mount")

    @Argument(help: "The folder with protected files, or an empty one.", completion: .directory)
    var folder: String

    @Argument(help: "The empty folder at which plain files are seen.", completion: .directory)
    var mountPoint: String

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp(
            "The class of new files in a folder that is mounted for the first time: complete, complete-unless-open, "
                + "until-first-unlock or none. (default: until-first-unlock)", valueName: "class"))
    var className: String?

    @Flag(name: .customLong("read-only"), help: "Allow no changes.")
    var isReadOnly = false

    @Flag(
        name: .customLong("allow-other"),
        help: "Let other users in, as far as the modes of files allow it. /etc/fuse.conf has to permit it.")
    var allowsOthers = false

    @Flag(name: .customLong("foreground"), help: "Stay in the foreground, as for systemd, until unmounted.")
    var isForeground = false

    @Option(name: .customLong("ready-fd"), help: .hidden)
    var readyDescriptor: Int32?

    @OptionGroup var passcode: PasscodeInput

    @Flag(help: .json)
    var json = false

    struct Answer: Encodable {
        var folder: String
        var mountPoint: String
        var process: Int32
    }

    func run() throws {
        let fileClass = try className.map { try FileProtectionClass(commandName: $0) }
        let folder = try Self.realPath(folder)
        let mountPoint = try Self.mountPath(mountPoint)
        try MountSession.checkLibrary()
        try MountPoint.prepare(mountPoint, for: folder)
        // What was mounted before has its keys in a vault that is there.
        let isNew = access(folder + "/" + FolderRecord.fileName, F_OK) != 0
        let session = try isNew ? VaultSession.ofOwner(passcode) : .ofOwnerInPresentVault(passcode)
        guard isForeground else { return try startInBackground(folder, mountPoint, session) }
        try serve(folder, mountPoint, fileClass, session)
    }

    // MARK: In this process

    private func serve(
        _ path: String, _ mountPoint: String, _ fileClass: FileProtectionClass?, _ asking: VaultSession
    ) throws {
        MountProcess.harden()
        guard let signals = EndingSignals() else {
            throw Failure(status: errSecIO, "no descriptor is left: end other programs or raise `ulimit -n`")
        }
        // This may ask for the passcode. Later, when programs use the view, nobody is asked.
        let folder = try ViewFolder(path, class: fileClass, readOnly: isReadOnly, keys: asking)
        let session = try VaultSession.current()
        let options = MountSession.Options(isReadOnly: isReadOnly, allowsOthers: allowsOthers)
        let log = MountProcess.log(toSystem: readyDescriptor != nil)
        let mounted = try MountSession.mount(folder, at: mountPoint, keys: session, options: options, log: log)
        mounted.follow(session.vault.lockEvents())
        let ended = DispatchSemaphore(value: 0)
        let end = { @Sendable in
            ended.signal()
            EndingSignals.wake()
        }
        guard
            ConnectionThread.start({
                mounted.run()
                end()
            }),
            ConnectionThread.start({
                mounted.waitUntilOutOfSight()
                end()
            })
        else { throw Failure(status: errSecAllocate, "no thread can be started: raise `ulimit -u`") }
        if let readyDescriptor { MountProcess.tellReady(readyDescriptor) }
        if json, readyDescriptor == nil {
            try StandardOutput.write(json: Answer(folder: path, mountPoint: mountPoint, process: getpid()))
        }
        while true {
            let signal = signals.next()
            if ended.wait(timeout: .now()) == .success { return }
            if signal != 0 { break }
        }
        try mounted.unmount()
        // Programs with open files keep the view. What was written is in the folder below.
        _ = ended.wait(timeout: .now() + .seconds(5))
    }

    // MARK: In another process

    private func startInBackground(_ folder: String, _ mountPoint: String, _ session: VaultSession) throws {
        let secret = try passcodeToHandOn(session)
        var arguments = ["keychain", "mount", "--foreground", "--ready-fd", "4"]
        if secret != nil { arguments += ["--passcode-fd", "3"] }
        if let className { arguments += ["--class", className] }
        if isReadOnly { arguments.append("--read-only") }
        if allowsOthers { arguments.append("--allow-other") }
        if json { arguments.append("--json") }
        let process = try MountProcess.start(arguments + ["--", folder, mountPoint], passcode: secret)
        guard json else { return }
        try StandardOutput.write(json: Answer(folder: folder, mountPoint: mountPoint, process: process))
    }

    /// Unlocks a vault that was never unlocked, while a person can be asked.
    ///
    /// - Returns: The passcode, if the process in the background has to unlock for itself because there is no daemon.
    private func passcodeToHandOn(_ session: VaultSession) throws -> SecretBytes? {
        let status = try session.perform(ReadStatus())
        guard status.isPasscodeSet, status.lockState == .beforeFirstUnlock || !status.isShared else { return nil }
        let secret = try passcode.ask("Mounting needs the vault to be unlocked.")
        try session.perform(UnlockVault(with: secret))
        session.showUnlockFindings()
        return status.isShared ? nil : secret
    }

    // MARK: Paths

    static func realPath(_ path: String) throws -> String {
        guard let real = realpath(path, nil) else {
            throw Failure(
                status: errno == ENOENT ? errSecItemNotFound : errSecIO,
                "cannot find \(path.escapedForTerminal): \(String(cString: strerror(errno)))")
        }
        defer { free(real) }
        return String(cString: real)
    }

    /// Returns the real path of a mount point, even if its process is gone and nothing can be looked up in it.
    static func mountPath(_ path: String) throws -> String {
        var name = path[...]
        while name.hasSuffix("/"), name.count > 1 { name.removeLast() }
        guard access(String(name), F_OK) != 0, errno == ENOTCONN,
            let slash = name.lastIndex(of: "/") ?? name.indices.first
        else { return try realPath(path) }
        guard name.contains("/") else { return try realPath(".") + "/" + name }
        let folder = try realPath(slash == name.startIndex ? "/" : String(name[..<slash]))
        return (folder == "/" ? "" : folder) + name[slash...]
    }
}

extension Failure {
    init(_ error: MountError) {
        switch error {
        case .file(let error): self.init(error)
        default: self.init(status: errSecIO, exitCode: ExitStatus.other, error.description.escapedForTerminal)
        }
    }
}

extension MountError: ReportedError {
    package var failure: Failure { Failure(self) }
}
