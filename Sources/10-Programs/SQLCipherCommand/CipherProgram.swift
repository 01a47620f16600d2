import CLibrary
import SQLCipherWire
import SystemLibraries

/// The program: SQLCipher in a process of its own, for one client on standard input and output.
///
/// libsqlcipher exports the names of libsqlite3. In a process that has both, one of the two answers for both. If that
/// is libsqlite3, keys are ignored and databases are written in the clear.
@main
enum CipherProgram {
    static func main() { exit(run()) }

    /// - Returns: The exit status.
    static func run() -> Int32 {
        guard CommandLine.arguments.count == 1, isPeer(0), isPeer(1) else {
            let message = "keychain-sqlcipher: this program is started by others; use `keychain db`\n"
            _ = message.withCString { write(2, $0, strlen($0)) }
            return 64
        }
        prepareProcess()
        return ClientSession().run()
    }

    /// Whether a descriptor leads to another process.
    private static func isPeer(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return [S_IFSOCK, S_IFIFO].contains(status.st_mode & S_IFMT)
    }

    private static func prepareProcess() {
        signal(SIGPIPE, SIG_IGN)
        // A limit on the size of files is an error to report. The signal would end the program with a half-written
        // file.
        signal(SIGXFSZ, SIG_IGN)
        // One byte is less than any core file. Unlike zero, it also stops those piped to a collector (core(5)).
        var limit = rlimit(rlim_cur: 1, rlim_max: 1)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        // The crash reports of Swift's runtime show pieces of memory, which may hold secrets.
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
        // PR_SET_DUMPABLE (prctl(2)): no other process of the user may read the memory of this one. The header declares
        // prctl with a variable number of arguments, but every architecture passes them like fixed ones.
        typealias Control = @convention(c) (Int32, Int, Int, Int, Int) -> Int32
        if let control: Control = libraryFunction("prctl") { _ = control(4, 0, 0, 0, 0) }
        umask(0o077)
    }
}
