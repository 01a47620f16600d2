import Foundation
import Glibc
import SystemLibraries
import Testing

/// Starts a program that inherits only given descriptors and ends with this process.
///
/// Some libraries open descriptors that every child inherits, such as tpm2-tss for its connections to swtpm. A child
/// that keeps such a descriptor makes the other end wait until the child ends.
package struct ProgramStart {
    /// The first argument is the program, which is searched for in `PATH`.
    package var arguments: [String]
    /// As `NAME=value`; nil for the environment of this process.
    package var environment: [String]?
    package var folder: String?
    /// Whether it leads a new session. The first terminal that it opens becomes its controlling terminal.
    package var leadsSession = false
    /// A descriptor of this process that becomes descriptor 3 of the program.
    package var passed: Int32?

    package init(_ arguments: [String], environment: [String]? = nil, folder: String? = nil, leadsSession: Bool = false)
    {
        self.arguments = arguments
        self.environment = environment
        self.folder = folder
        self.leadsSession = leadsSession
    }

    /// Starts the program with the descriptors 0, 1 and 2 that `describe` sets.
    ///
    /// By default, it has no input, and its output goes to standard error.
    ///
    /// - Throws: ``ProgramError``.
    package func start(_ describe: (inout posix_spawn_file_actions_t) -> Void) throws -> pid_t {
        let process = try spawn { actions in
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            for descriptor in Int32(1)...2 {
                posix_spawn_file_actions_adddup2(&actions, ChildErrors.descriptor, descriptor)
            }
            describe(&actions)
        }
        try TestWatcher.end(process)
        return process
    }

    /// Starts the program with only the standard descriptors of `describe`. The watcher does not know it.
    func spawn(_ describe: (inout posix_spawn_file_actions_t) -> Void) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        describe(&actions)
        if let passed { posix_spawn_file_actions_adddup2(&actions, passed, 3) }
        closeDescriptors(from: passed == nil ? 3 : 4, in: &actions)
        if let folder, !changeFolder(to: folder, in: &actions) { throw ProgramError(program: folder, errno: ENOSYS) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads of tests block and ignore signals.
        resetSignals(in: &attributes)
        if leadsSession { leadSession(in: &attributes) }
        let variables = environment ?? ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        var arguments = arguments.map { strdup($0) } + [nil]
        var environment = variables.map { strdup($0) } + [nil]
        defer { for pointer in arguments + environment { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, self.arguments[0], &actions, &attributes, &arguments, &environment)
        guard code == 0 else { throw ProgramError(program: self.arguments[0], errno: code) }
        return process
    }

    /// Runs the program to its end with `input` as its standard input. Its output goes to `given` if that is not nil.
    ///
    /// - Parameter seconds: The time after which the program is killed and the test fails.
    package func run(
        input: Data = Data(), output given: Int32? = nil, within seconds: Int = Patience.seconds,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> ProgramOutcome {
        let folder = try TemporaryFolder()
        let (standardInput, output, errors) = (folder.path(of: "in"), folder.path(of: "out"), folder.path(of: "err"))
        try FolderContents.write(input, to: standardInput)
        let process = try start { actions in
            posix_spawn_file_actions_addopen(&actions, 0, standardInput, O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
            if let given { posix_spawn_file_actions_adddup2(&actions, given, 1) }
            posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT, 0o600)
        }
        let what = "the end of \(arguments.joined(separator: " "))"
        let status = Self.wait(for: process, what, within: seconds, sourceLocation: sourceLocation)
        return ProgramOutcome(
            status: status, output: try Data(contentsOf: URL(fileURLWithPath: output)),
            errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: errors)), as: UTF8.self))
    }

    /// Waits until a child has ended.
    ///
    /// - Parameter seconds: The time after which the child is killed and the test fails.
    /// - Returns: The exit code, or 128 plus the number of the signal.
    @discardableResult package static func wait(
        for process: pid_t, _ what: @autoclosure () -> String? = nil, within seconds: Int = Patience.seconds,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Int32 {
        withDeadline(
            what() ?? "the end of \(name(of: process))", within: seconds, ending: { kill(process, SIGKILL) },
            sourceLocation: sourceLocation
        ) {
            var info = siginfo_t()
            // WEXITED and WNOWAIT (waitid(2)): the child keeps its process number while it may still be killed.
            while waitid(P_PID, id_t(process), &info, 0x4 | 0x0100_0000) < 0, errno == EINTR {}
        }
        var status: Int32 = 0
        var ended = waitpid(process, &status, 0)
        while ended < 0, errno == EINTR { ended = waitpid(process, &status, 0) }
        guard ended == process else {
            Issue.record("process \(process) was waited for before", sourceLocation: sourceLocation)
            return 255
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Returns the command line of a process, for messages.
    static func name(of process: pid_t) -> String {
        let words = (try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(process)/cmdline"))) ?? Data()
        let name = words.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
        return "process \(process) (\(name.prefix(200)))"
    }
}

/// The exit status and output of a program.
package struct ProgramOutcome {
    package let status: Int32
    package let output: Data
    package let errors: String

    package var text: String { String(decoding: output, as: UTF8.self) }
}

package struct ProgramError: Error, CustomStringConvertible {
    package let program: String
    package let errno: Int32

    package var description: String {
        "\(program) does not start: \(String(cString: strerror(errno))); Scripts/install/setup.sh --tests installs what tests need"
    }
}

/// Makes the next child process run in `folder`.
///
/// - Returns: False with glibc before 2.29, which does not have this action.
private func changeFolder(to folder: String, in actions: inout posix_spawn_file_actions_t) -> Bool {
    typealias AddChange =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32
    guard let add: AddChange = libraryFunction("posix_spawn_file_actions_addchdir_np") else { return false }
    return add(&actions, folder) == 0
}
