import Bytes
import CLibrary
import FoundationEssentials
import StatusCodes
import SystemLibraries

/// Another program that a command uses, such as one that has the clipboard.
package enum ToolProcess {
    /// Returns whether a program with this name is in a folder of `PATH`.
    package static func exists(_ name: String) -> Bool {
        // _PATH_DEFPATH (paths.h) is what the C library takes without PATH.
        let folders = (Environment.value(of: "PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { access("\($0)/\(name)", X_OK) == 0 }
    }

    /// Runs a program to its end. What it says on standard error is dropped.
    ///
    /// - Parameters:
    ///   - words: Its name, which is looked for in `PATH`, and its arguments, which every user can see.
    ///   - input: What it reads on standard input.
    ///   - limit: The most bytes of its standard output that are read; 0 to drop them.
    /// - Returns: Its output; nil if it was not there, failed or wrote too much.
    package static func run(_ words: [String], input: Data = Data(), limit: Int = 0) -> Data? {
        guard let standard = SocketPair(), let output = SocketPair() else { return nil }
        guard let process = start(words, input: standard.theirs, output: limit > 0 ? output.theirs : nil) else {
            return nil
        }
        standard.closeTheirs()
        output.closeTheirs()
        // A program may write before it has read everything. The thread has a descriptor of its own.
        let writer = fcntl(standard.ours, F_DUPFD_CLOEXEC, 3)
        let isWriting =
            writer >= 0
            && DetachedThread.start("tool input") {
                // A program that ends before it has read everything says so by its status.
                _ = input.withUnsafeBytes { SystemCall.sendAll($0, to: writer) }
                shutdown(writer, Int32(clamping: SHUT_WR))
                close(writer)
            }
        // Without a thread the program gets nothing, and its output is not looked at.
        if !isWriting { shutdown(standard.ours, Int32(clamping: SHUT_WR)) }
        let read = limit > 0 ? try? DescriptorReader.readAll(output.ours, limit: limit) : Data()
        var status: Int32 = 0
        guard SystemCall.retryOnInterrupt({ waitpid(process, &status, 0) }) == process, status == 0, isWriting else {
            return nil
        }
        return read
    }

    /// Starts this program once more, in a session of its own, and goes on.
    ///
    /// - Parameter input: What it reads on standard input: secrets belong there, and not among its arguments.
    /// - Returns: Whether it was started.
    package static func startThisProgram(_ arguments: [String], input: Data) -> Bool {
        guard let standard = SocketPair(),
            start(["/proc/self/exe"] + arguments, named: "keychain", input: standard.theirs, output: nil, leads: true)
                != nil
        else { return false }
        standard.closeTheirs()
        return input.withUnsafeBytes { SystemCall.sendAll($0, to: standard.ours) }
    }

    private static func start(
        _ words: [String], named name: String? = nil, input: Int32, output: Int32?, leads: Bool = false
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        closeDescriptors(from: 3, in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals(in: &attributes)
        if leads { leadSession(in: &attributes) }
        var arguments = ([name ?? words.first ?? ""] + words.dropFirst()).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        guard posix_spawnp(&process, words.first ?? "", &actions, &attributes, &arguments, environ) == 0 else {
            return nil
        }
        return process
    }
}

/// Two ends of a connection, which are closed when nobody has the pair any more.
private final class SocketPair {
    let ours: Int32
    private(set) var theirs: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(clamping: kind), 0, &ends) == 0 else { return nil }
        (ours, theirs) = (ends[0], ends[1])
    }

    func closeTheirs() {
        guard theirs >= 0 else { return }
        close(theirs)
        theirs = -1
    }

    deinit {
        closeTheirs()
        close(ours)
    }
}
