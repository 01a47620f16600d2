import CLibrary
import SystemLibraries

/// What a front process may not do.
package enum FrontConfinement {
    /// Gives up rights, other processes, files and the network.
    ///
    /// - Parameter keepingFiles: Whether the process still has to reach a bus, and keeps its user, files and sockets.
    /// - Returns: What is not in force, in sentences.
    package static func begin(keepingFiles: Bool) -> [String] {
        var failures: [String] = []
        func note(_ what: String, _ result: Int) {
            if result < 0 { failures.append("\(what): \(String(cString: strerror(errno)))") }
        }
        // PR_SET_DUMPABLE and PR_SET_NO_NEW_PRIVS of prctl(2).
        note("non-dumpable", processControl(4, 0))
        note("no new privileges", processControl(38, 1))
        note("locked memory", liftMemoryLimit() && lockMemory() ? 0 : -1)
        guard !keepingFiles else { return failures }
        let hasNamespaces = leaveNamespaces()
        note("namespaces of its own", hasNamespaces ? 0 : -1)
        if hasNamespaces, chdir("/proc/self/fdinfo") == 0 {
            // Empty once this process is gone, and nothing can be opened in it before.
            note("no files", chroot(".") == 0 ? 0 : -1)
        }
        leaveUser()
        note("no capabilities", dropCapabilities() ? 0 : -1)
        // A change of user or rights makes the process dumpable where the machine says so (suid_dumpable, proc(5)).
        note("non-dumpable", processControl(4, 0))
        note("system call filter", filter(startsOthers: true).install() == 0 ? 0 : -1)
        return failures
    }

    /// Gives up starting processes, too.
    ///
    /// - Returns: Whether the filter of system calls is in force.
    package static func finish() -> Bool {
        // A child does not inherit it.
        _ = lockMemory()
        return filter(startsOthers: false).install() == 0
    }

    /// Names this process for ps(1): at most 15 bytes.
    static func name(_ name: String) {
        // PR_SET_NAME
        name.withCString { _ = processControl(15, Int(bitPattern: $0)) }
    }

    /// Network, mounts, System V's and POSIX's queues, host name: unshare(2). A user's process gets them together with
    /// a namespace of users.
    private static func leaveNamespaces() -> Bool {
        // CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWNET and CLONE_NEWUSER of linux/sched.h.
        let all = 0x0002_0000 | 0x0400_0000 | 0x0800_0000 | 0x4000_0000
        return unshare(all) == 0 || unshare(all | 0x1000_0000) == 0
    }

    private static func unshare(_ flags: Int) -> Int {
        #if arch(x86_64)
        systemCall(272, flags)
        #else
        systemCall(97, flags)
        #endif
    }

    // RLIMIT_MEMLOCK (asm-generic/resource.h), a macro that Swift does not see.
    private static let lockedMemory = __rlimit_resource_t(8)

    /// Lifts the limit on locked memory, for this process and its children.
    private static func liftMemoryLimit() -> Bool {
        var limit = rlimit(rlim_cur: .max, rlim_max: .max)
        return setrlimit(lockedMemory, &limit) == 0
    }

    /// Keeps memory out of swap. Under a limit it does not: there would be no memory beyond that.
    private static func lockMemory() -> Bool {
        var limit = rlimit()
        getrlimit(lockedMemory, &limit)
        // MCL_CURRENT, MCL_FUTURE and MCL_ONFAULT (mlock(2)).
        return limit.rlim_cur == .max && mlockall(1 | 2 | 4) == 0
    }

    /// A front of root becomes a user who owns nothing: code that breaks out is not root, and no other program may end
    /// the front.
    private static func leaveUser() {
        guard geteuid() == 0 else { return }
        // Above the numbers that systemd gives to users and containers. A process has a number of 22 bits at most.
        let user = 0x7A00_0000 | UInt32(truncatingIfNeeded: getpid())
        _ = setgroups(0, nil)
        setregid(user, user)
        setreuid(user, user)
    }

    /// Gives up what root, or a namespace, gave. Calls capset(2) only if there is something to drop: a service manager
    /// may forbid it.
    private static func dropCapabilities() -> Bool {
        // `struct __user_cap_header_struct` of version 3, and twice `struct __user_cap_data_struct`.
        var head: (UInt32, Int32) = (0x2008_0522, 0)
        var sets: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0)
        return withUnsafeMutableBytes(of: &head) { head in
            withUnsafeMutableBytes(of: &sets) { sets in
                let arguments = [head, sets].map { Int(bitPattern: $0.baseAddress) }
                guard systemCall(capget, arguments[0], arguments[1]) == 0 else { return false }
                if sets.allSatisfy({ $0 == 0 }) { return true }
                sets.initializeMemory(as: UInt8.self, repeating: 0)
                return systemCall(capset, arguments[0], arguments[1]) == 0
            }
        }
    }

    private static func processControl(_ option: Int, _ argument: Int) -> Int {
        // SYS_prctl differs between architectures.
        #if arch(x86_64)
        systemCall(157, option, argument)
        #else
        systemCall(167, option, argument)
        #endif
    }

    #if arch(x86_64)
    private static let (capget, capset) = (125, 126)
    #else
    private static let (capget, capset) = (90, 91)
    #endif

    private typealias Rule = SystemCallFilter.Rule
    private typealias Condition = SystemCallFilter.Condition

    /// What a front does: read and write on sockets that it has, wait, and use memory. It opens nothing.
    private static func filter(startsOthers: Bool) -> SystemCallFilter {
        SystemCallFilter(allowing: startsOthers ? rulesOfFront + rulesOfStarter : rulesOfFront)
    }

    /// What starts fronts besides.
    private static var rulesOfStarter: [Rule?] {
        [
            Rule(x86: 56, arm: 220),  // clone
            Rule(x86: 435, arm: 435),  // clone3
            Rule(x86: 57, arm: nil),  // fork
            Rule(x86: 61, arm: 260),  // wait4
            Rule(x86: 273, arm: 99),  // set_robust_list
            Rule(x86: 334, arm: 293),  // rseq
            Rule(x86: 317, arm: 277),  // seccomp
            Rule(x86: 157, arm: 167),  // prctl
            Rule(x86: 151, arm: 230),  // mlockall
        ]
    }

    // PROT_EXEC: no memory becomes code.
    private static var isNoCode: [[Condition]] { [[Condition(argument: 2, mask: 4, is: 0)]] }
    // AT_EMPTY_PATH, with which the C library asks about a descriptor.
    private static var isOfDescriptor: [[Condition]] { [[Condition(argument: 3, is: 0x1000)]] }
    // The low bits of a socket's type: a datagram socket could send to others than its other end.
    private static var isStream: [[Condition]] { [[Condition(argument: 1, mask: 0xF, is: 1)]] }
    // How many bytes can be read (FIONREAD). Other requests, and those of fcntl(2) that are left out, would have the
    // kernel send signals to any process of the same user.
    private static var countsBytes: [[Condition]] { [[Condition(argument: 1, is: 0x541B)]] }
    // F_GETFD, F_SETFD, F_GETFL and F_DUPFD_CLOEXEC; F_SETFL without O_ASYNC.
    private static var ofDescriptor: [[Condition]] {
        [1, 2, 3, 1030].map { [Condition(argument: 1, is: $0)] }
            + [[Condition(argument: 1, is: 4), Condition(argument: 2, mask: 0x2000, is: 0)]]
    }
    // Options of SOL_SOCKET. Those to set are SO_SNDBUF, SO_RCVBUF, SO_PASSCRED, SO_SNDBUFFORCE, SO_RCVBUFFORCE and
    // SO_PASSSEC: not a filter of packets. Those to get are SO_TYPE, SO_ERROR, SO_SNDBUF, SO_RCVBUF, SO_PEERCRED,
    // SO_ACCEPTCONN, SO_PEERSEC, SO_DOMAIN and SO_PEERGROUPS: not a descriptor of the process.
    private static var sets: [[Condition]] { options([7, 8, 16, 32, 33, 34]) }
    private static var gets: [[Condition]] { options([3, 4, 7, 8, 17, 30, 31, 39, 59]) }

    private static func options(_ names: [UInt32]) -> [[Condition]] {
        names.map { [Condition(argument: 1, is: 1), Condition(argument: 2, is: $0)] }
    }

    private static var rulesOfFront: [Rule?] {
        [
            Rule(x86: 0, arm: 63),  // read
            Rule(x86: 1, arm: 64),  // write
            Rule(x86: 3, arm: 57),  // close
            Rule(x86: 5, arm: 80),  // fstat
            Rule(x86: 262, arm: 79, allowedIf: isOfDescriptor),  // newfstatat
            Rule(x86: 7, arm: nil),  // poll
            Rule(x86: 271, arm: 73),  // ppoll
            Rule(x86: 9, arm: 222, allowedIf: isNoCode),  // mmap
            Rule(x86: 10, arm: 226, allowedIf: isNoCode),  // mprotect
            Rule(x86: 11, arm: 215),  // munmap
            Rule(x86: 12, arm: 214),  // brk
            Rule(x86: 25, arm: 216),  // mremap
            Rule(x86: 28, arm: 233),  // madvise
            Rule(x86: 13, arm: 134),  // rt_sigaction
            Rule(x86: 14, arm: 135),  // rt_sigprocmask
            Rule(x86: 15, arm: 139),  // rt_sigreturn
            Rule(x86: 131, arm: 132),  // sigaltstack
            Rule(x86: 16, arm: 29, allowedIf: countsBytes),  // ioctl
            Rule(x86: 19, arm: 65),  // readv
            Rule(x86: 20, arm: 66),  // writev
            Rule(x86: 24, arm: 124),  // sched_yield
            Rule(x86: 39, arm: 172),  // getpid
            Rule(x86: 186, arm: 178),  // gettid
            Rule(x86: 102, arm: 174),  // getuid
            Rule(x86: 107, arm: 175),  // geteuid
            Rule(x86: 44, arm: 206),  // sendto
            Rule(x86: 45, arm: 207),  // recvfrom
            Rule(x86: 46, arm: 211),  // sendmsg
            Rule(x86: 47, arm: 212),  // recvmsg
            Rule(x86: 48, arm: 210),  // shutdown
            Rule(x86: 51, arm: 204),  // getsockname
            Rule(x86: 52, arm: 205),  // getpeername
            Rule(x86: 53, arm: 199, allowedIf: isStream),  // socketpair
            Rule(x86: 54, arm: 208, allowedIf: sets),  // setsockopt
            Rule(x86: 55, arm: 209, allowedIf: gets),  // getsockopt
            Rule(x86: 72, arm: 25, allowedIf: ofDescriptor),  // fcntl
            Rule(x86: 60, arm: 93),  // exit
            Rule(x86: 231, arm: 94),  // exit_group
            Rule(x86: 202, arm: 98),  // futex
            Rule(x86: 219, arm: 128),  // restart_syscall
            Rule(x86: 96, arm: 169),  // gettimeofday
            Rule(x86: 228, arm: 113),  // clock_gettime
            Rule(x86: 230, arm: 115),  // clock_nanosleep
            Rule(x86: 35, arm: 101),  // nanosleep
            Rule(x86: 318, arm: 278),  // getrandom
        ]
    }
}
