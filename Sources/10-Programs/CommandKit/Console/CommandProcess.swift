import Bytes
import CLibrary

/// What a program does first, before it opens a file or reads a secret.
package enum CommandProcess {
    /// Has errors reported that would end the program, and keeps memory out of core files and crash reports.
    package static func prepare() {
        // When the reader goes away, `write` fails and the error is reported. The signal would end the program.
        signal(SIGPIPE, SIG_IGN)
        // A limit on the size of files is an error to report. The signal would end the program with a half-written
        // file.
        signal(SIGXFSZ, SIG_IGN)
        // One byte is less than any core file. Unlike zero, it also stops core files that are piped to a collector
        // (core(5)).
        var limit = rlimit(rlim_cur: 1, rlim_max: 1)
        setrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_CORE.rawValue), &limit)
        // The crash reports of Swift's runtime show pieces of memory, which may hold secrets.
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            var action = sigaction()
            sigaction(number, nil, &action)
            if action.sa_flags & SA_SIGINFO != 0 { signal(number, SIG_DFL) }
        }
        occupyStandardDescriptors()
    }

    /// Opens descriptors 0, 1 and 2 if the program was started with one of them closed, so that no file of the vault
    /// gets one of these numbers. The stand-ins fail on use, as the closed descriptors would.
    package static func occupyStandardDescriptors() {
        for (descriptor, mode) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", mode)
        }
    }
}
