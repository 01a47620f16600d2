import Bytes
import CLibrary
import CommandKit
import StatusCodes
import SystemLibraries

/// The command that `keychain run` runs.
struct RunProgram {
    /// Where it was found.
    let path: String
    let name: String

    /// Searches for the program as a shell does: a name without a slash in each folder of `searchPath`.
    ///
    /// - Parameter searchPath: The `PATH` that the command will have.
    init(_ name: String, searchPath: String?) throws(Failure) {
        self.name = name
        guard !name.contains("/") else {
            path = name
            return
        }
        // _PATH_DEFPATH (paths.h) is what the C library takes without PATH.
        let folders = (searchPath ?? "/usr/bin:/bin").split(separator: ":", omittingEmptySubsequences: false)
        let places = folders.map { $0.isEmpty ? "./\(name)" : "\($0)/\(name)" }
        let files = name.isEmpty ? [] : places.filter(Self.isFile)
        guard let found = files.first(where: { access($0, X_OK) == 0 }) ?? files.first else {
            throw Self.notRun(name, ENOENT)
        }
        path = found
    }

    /// - Parameter path: Where it was found before.
    init(_ name: String, at path: String) { (self.name, self.path) = (name, path) }

    private static func isFile(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
    }

    /// The command's arguments, byte for byte as they were given: what follows the first `--`.
    static var arguments: [UnsafeMutablePointer<CChar>?] {
        let all = (0..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0] }
        let command = all.drop { $0.map { strcmp($0, "--") != 0 } ?? true }.dropFirst()
        return command + [nil]
    }

    /// Replaces this process with the program.
    ///
    /// - Returns: Why that failed.
    func replaceThisProcess(_ environment: EnvironmentBlock) -> Failure {
        InheritedDescriptors.keep()
        // Only the signals that this program itself ignores. Those that its parent ignores stay ignored.
        for number in Self.ignored { signal(number, SIG_DFL) }
        dropRaisedIdentity()
        var arguments = Self.arguments
        let code = environment.withPointers { pointers in
            execve(path, &arguments, pointers)
            return errno
        }
        signal(SIGPIPE, SIG_IGN)
        return Self.notRun(name, code)
    }

    /// Replaces this process with the program, in the same environment.
    ///
    /// - Returns: Why that failed.
    func replaceThisProcess(arguments: [String]) -> Failure {
        InheritedDescriptors.keep()
        for number in Self.ignored { signal(number, SIG_DFL) }
        dropRaisedIdentity()
        var pointers = ([name] + arguments).map { strdup($0) } + [nil]
        execv(path, &pointers)
        let code = errno
        signal(SIGPIPE, SIG_IGN)
        return Self.notRun(name, code)
    }

    /// Starts it beside this process, in the same process group.
    ///
    /// - Parameter output: Its descriptors 1 and 2; nil for those of this process.
    func start(_ environment: EnvironmentBlock, output: (standard: Int32, error: Int32)?) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output.standard, 1)
            posix_spawn_file_actions_adddup2(&actions, output.error, 2)
        }
        InheritedDescriptors.keep()
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals(Self.ignored, in: &attributes)
        var arguments = Self.arguments
        var process: pid_t = 0
        let code = environment.withPointers { posix_spawn(&process, path, &actions, &attributes, &arguments, $0) }
        guard code == 0 else { throw Self.notRun(name, code) }
        return process
    }

    /// The signals that ``Program`` ignores for itself.
    private static let ignored = [SIGPIPE, SIGXFSZ]

    private static func notRun(_ name: String, _ code: Int32) -> Failure {
        // 127 and 126 are what a shell says (POSIX, 2.8.2).
        let advice =
            switch code {
            case ENOEXEC: "a script names its interpreter in the first line, as in #!/bin/sh"
            case EACCES: "make a script executable with `chmod +x`, or name another program after --"
            default: "name a program after --"
            }
        return Failure(
            status: errSecIO, exitCode: code == ENOENT || code == ENOTDIR ? 127 : 126,
            "'\(name.escapedForTerminal)' cannot be run (\(String(cString: strerror(code)))): \(advice)")
    }
}
