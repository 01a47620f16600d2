import Glibc
import SystemBus
import SystemLibraries

/// Confines this process as a front process is, tries what an intruder would do, and prints what is not refused.
func tryAsFront() {
    var ends: [Int32] = [-1, -1]
    socketpair(AF_UNIX, Int32(truncatingIfNeeded: SOCK_STREAM.rawValue), 0, &ends)
    let socket = ends[0]
    let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    for reason in FrontConfinement.begin(keepingFiles: false) where reason.hasPrefix("system call filter") {
        VaultWorker.report(reason)
    }
    guard FrontConfinement.finish() else { return VaultWorker.report("no filter") }
    #if arch(x86_64)
    let numbers = (execute: 59, trace: 101, unshare: 272, openPath: 257, processDescriptor: 434)
    #else
    let numbers = (execute: 221, trace: 117, unshare: 97, openPath: 56, processDescriptor: 434)
    #endif
    var number: Int32 = 9
    let size = socklen_t(clamping: MemoryLayout<Int32>.size)
    let fork: (@convention(c) () -> pid_t)? = libraryFunction("fork")
    let attempts: [(String, () -> Int)] = [
        ("open", { systemCall(numbers.openPath, -100, 0, 0, 0) }),
        ("socket", { Int(Glibc.socket(AF_UNIX, Int32(truncatingIfNeeded: SOCK_STREAM.rawValue), 0)) }),
        ("network", { Int(Glibc.socket(AF_INET, Int32(truncatingIfNeeded: SOCK_STREAM.rawValue), 0)) }),
        ("datagrams", { Int(socketpair(AF_UNIX, Int32(truncatingIfNeeded: SOCK_DGRAM.rawValue), 0, &ends)) }),
        ("fork", { Int(fork?() ?? 0) }),
        ("execve", { systemCall(numbers.execute) }),
        ("ptrace", { systemCall(numbers.trace) }),
        ("unshare", { systemCall(numbers.unshare) }),
        ("pidfd_open", { systemCall(numbers.processDescriptor, Int(getpid()), 0) }),
        ("kill", { Int(kill(getpid(), 0)) }),
        // F_SETSIG, F_SETOWN and O_ASYNC, FIOSETOWN and FIOASYNC: the kernel sends a signal to any process of the user.
        ("F_SETSIG", { Int(fcntl(socket, 10, 9)) }),
        ("F_SETOWN", { Int(fcntl(socket, F_SETOWN, getppid())) }),
        ("O_ASYNC", { Int(fcntl(socket, F_SETFL, 0x2000)) }),
        ("FIOSETOWN", { Int(ioctl(socket, 0x8901, &number)) }),
        ("FIOASYNC", { Int(ioctl(socket, 0x5452, &number)) }),
        ("SO_ATTACH_FILTER", { Int(setsockopt(socket, SOL_SOCKET, 26, &number, size)) }),
        ("code", { mmap(nil, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0 }),
        ("code later", { Int(mprotect(page, 4096, PROT_READ | PROT_EXEC)) }),
    ]
    for (name, attempt) in attempts {
        errno = 0
        if attempt() != -1 || errno != EPERM { VaultWorker.report("\(name) is not refused: \(errno)") }
    }
    var count: Int32 = 0
    let works =
        send(ends[1], &count, 4, 0) == 4 && ioctl(socket, 0x541B, &count) == 0 && count == 4
        && fcntl(socket, F_SETFL, O_NONBLOCK) == 0 && recv(socket, &count, 4, 0) == 4
    VaultWorker.report(works ? "it talks" : "it cannot talk: \(errno)")
}
