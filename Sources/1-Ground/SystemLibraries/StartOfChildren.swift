import Bytes
import CLibrary

/// Keeps the next child process from inheriting descriptors from `lowest` on.
///
/// Some libraries open descriptors that every child inherits, such as tpm2-tss for its connections. A child that keeps
/// such a descriptor makes the other end wait until the child ends. glibc before 2.34 does not have this action. There
/// the child inherits every descriptor that is not marked `FD_CLOEXEC`.
package func closeDescriptors(from lowest: Int32, in actions: inout posix_spawn_file_actions_t) {
    // Looked up at run time, because the header declares it only for programs that ask for GNU's extensions.
    typealias AddClose = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    guard let add: AddClose = libraryFunction("posix_spawn_file_actions_addclosefrom_np") else { return }
    _ = add(&actions, lowest)
}

/// Makes the next child process start with no blocked signal, and with the default action for `signals`.
///
/// Without this, the child would ignore the signals that this process ignores.
///
/// - Parameter signals: Nil for all signals.
package func resetSignals(_ signals: [Int32]? = nil, in attributes: inout posix_spawnattr_t) {
    var set = sigset_t()
    sigemptyset(&set)
    posix_spawnattr_setsigmask(&attributes, &set)
    if let signals {
        for signal in signals { sigaddset(&set, signal) }
    } else {
        sigfillset(&set)
    }
    posix_spawnattr_setsigdefault(&attributes, &set)
    addFlags(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK, to: &attributes)
}

/// Starts the next child process with the real user and group of this process, and not with those that a set-user-ID or
/// set-group-ID program was raised to.
package func dropRaisedIdentity(in attributes: inout posix_spawnattr_t) {
    addFlags(POSIX_SPAWN_RESETIDS, to: &attributes)
}

/// Gives up the user and group that a set-user-ID or set-group-ID program was raised to, before it becomes another
/// program.
package func dropRaisedIdentity() {
    setregid(getgid(), getgid())
    setreuid(getuid(), getuid())
}

/// Starts the next child process in a new session.
package func leadSession(in attributes: inout posix_spawnattr_t) {
    // POSIX_SPAWN_SETSID (spawn.h). The header declares it only for programs that ask for GNU's extensions.
    addFlags(0x80, to: &attributes)
}

/// Starts the next child process in a new process group, so that Ctrl-C at this terminal does not end it.
package func leadGroup(in attributes: inout posix_spawnattr_t) {
    posix_spawnattr_setpgroup(&attributes, 0)
    addFlags(POSIX_SPAWN_SETPGROUP, to: &attributes)
}

private func addFlags(_ added: Int32, to attributes: inout posix_spawnattr_t) {
    var flags: Int16 = 0
    posix_spawnattr_getflags(&attributes, &flags)
    posix_spawnattr_setflags(&attributes, flags | Int16(clamping: added))
}
