import Access
import Connections
import Enclave
import Foundation
import Frames
import Glibc
import TestSupport
import Testing
import Vault
import VaultInterface
import VaultService

/// A running `keychaind` with a vault, a socket and entitlements of its own.
final class DaemonUnderTest {
    let folder: TemporaryFolder
    private let options: [String]
    private let user: uid_t?
    private let tpm: SoftwareTPM?
    private var process: Worker?

    var socket: String { folder.path(of: "run/socket") }
    var home: String { folder.path(of: "vault") }
    private var entitlements: String { folder.path(of: "entitlements.json") }

    /// The program that runs the tests.
    static let ownExecutable: String = {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        return String(decoding: buffer[..<count], as: UTF8.self)
    }()

    /// The rule that gives this program what most tests need.
    static let ownRule =
        #"{"executable": "\#(ownExecutable)", "groups": ["TEAM.app", "TEAM.shared"], "rights": ["list"]}"#

    /// - Parameters:
    ///   - user: The user to run it as; nil for the one who runs the tests.
    ///   - tpm: What the vault hangs on; nil for the software enclave.
    init(
        _ options: [String] = [], rules: [String] = [DaemonUnderTest.ownRule], as user: uid_t? = nil,
        in tpm: SoftwareTPM? = nil
    ) throws {
        folder = try TemporaryFolder()
        self.options = options
        self.user = user
        self.tpm = tpm
        if let tpm { try EmbeddedVault.open(at: home, in: .tpm2, enclaves: EnclavePlace(tpm: tpm.address)).close() }
        if let user { chown(folder.path, user, user) }
        try setRules(rules)
        try start()
    }

    func setRules(_ rules: [String]) throws {
        let json = #"{"version": 1, "rules": [\#(rules.joined(separator: ", "))]}"#
        try Data(json.utf8).write(to: URL(fileURLWithPath: entitlements), options: .atomic)
        chmod(entitlements, 0o600)
        if let user { chown(entitlements, user, user) }
    }

    func start() throws {
        var command =
            [Worker.daemon, "--socket", socket, "--home", home, "--entitlements", entitlements, "--log", "error"]
            + options
        if let tpm { command = ["env", "KEYCHAIN_TPM=\(tpm.address)"] + command }
        if let user { command = ["setpriv", "--reuid", "\(user)", "--clear-groups"] + command }
        process = try Worker(Array(command.dropFirst()), command: command[0])
        try eventually("the daemon listens") {
            guard let connected = try? UnixSocket.connect(to: socket) else { return false }
            close(connected)
            return true
        }
    }

    var processNumber: pid_t? { process?.process }

    func kill() {
        process?.kill()
        process?.wait()
    }

    /// Ends it as a service manager does, and waits.
    ///
    /// - Returns: The exit status.
    func stop() -> Int32? {
        process?.terminate()
        return process?.wait()
    }

    func connect() throws -> RemoteVault { try RemoteVault(socket: socket) }

    /// A copy of the worker at a path of its own, which is another program to the daemon.
    func program(_ name: String) throws -> String {
        let path = folder.path(of: name)
        if access(path, F_OK) == 0 { return path }
        // By another process: one that this one starts meanwhile would inherit the file open for writing, and a file
        // that is open for writing cannot be run.
        let copying = try Worker([Worker.executable, path], command: "cp")
        guard copying.wait() == 0 else { throw POSIXError(.EIO) }
        return path
    }

    /// What `program` says of `words`; see `VaultWorker.remote`.
    func says(_ program: String, _ words: String...) throws -> String {
        let worker = try Worker(["remote", socket] + words, command: program)
        return worker.readLine() ?? "nothing"
    }

    func greeted() throws -> FrameSocket { try .greeted(at: socket) }
}
