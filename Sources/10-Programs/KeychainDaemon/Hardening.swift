import Bytes
import CLibrary
import SystemLibraries

/// Measures that keep other programs from the daemon's memory.
enum Hardening {
    /// A measure, with the reason if it is not in force.
    struct Measure {
        var name: String
        var failure: String?
    }

    /// Called at the start, before there is a second thread or a secret.
    static func apply() -> [Measure] {
        [noDumps(), noCore(), noNewPrivileges(), systemCalls(), lockedMemory()]
    }

    /// No other process of the user may trace this one or read its memory (PR_SET_DUMPABLE, prctl(2)).
    private static func noDumps() -> Measure {
        Measure(name: "non-dumpable", failure: failure(Int(prctlCall(4, 0))))
    }

    private static func noCore() -> Measure {
        // One byte is less than any core file. Unlike zero, it also stops those piped to a collector (core(5)).
        var limit = rlimit(rlim_cur: 1, rlim_max: 1)
        return Measure(
            name: "no core files",
            failure: failure(Int(setrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_CORE.rawValue), &limit))))
    }

    private static func noNewPrivileges() -> Measure {
        // PR_SET_NO_NEW_PRIVS, prctl(2)
        Measure(name: "no new privileges", failure: failure(Int(prctlCall(38, 1))))
    }

    private static func systemCalls() -> Measure {
        Measure(name: "system call filter", failure: failure(SystemCallFilter.ofDaemon.install()))
    }

    /// Keeps all memory that is used out of swap. Not done under a limit on locked memory, because the daemon could get
    /// no memory beyond it; keys are in locked memory of their own anyway.
    private static func lockedMemory() -> Measure {
        var limit = rlimit()
        // RLIMIT_MEMLOCK (asm-generic/resource.h), a macro that Swift does not see.
        getrlimit(__rlimit_resource_t(8), &limit)
        guard limit.rlim_cur == rlim_t.max || geteuid() == 0 else {
            return Measure(name: "locked memory", failure: "the limit is \(limit.rlim_cur >> 10) KiB (RLIMIT_MEMLOCK)")
        }
        // MCL_CURRENT, MCL_FUTURE and MCL_ONFAULT (mlock(2)): only pages that are used, not the whole of each stack.
        return Measure(name: "locked memory", failure: failure(Int(mlockall(1 | 2 | 4))))
    }

    /// A connection needs two descriptors, and five if it is the Secret Service's.
    static func raiseDescriptorLimit(for connections: Int) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, rlim_t(clamping: connections * 5 + 256)))
        setrlimit(__rlimit_resource_t(truncatingIfNeeded: RLIMIT_NOFILE.rawValue), &limit)
    }

    private static func prctlCall(_ option: Int, _ argument: Int) -> Int {
        // SYS_prctl differs between architectures.
        #if arch(x86_64)
        systemCall(157, option, argument)
        #else
        systemCall(167, option, argument)
        #endif
    }

    private static func failure(_ status: Int) -> String? {
        status == 0 ? nil : String(cString: strerror(errno))
    }
}
