import Glibc

/// Has a child that is about to start inherit no descriptor from `lowest` on.
///
/// Some libraries open descriptors that every child gets, tpm2-tss its connections among them: a child that
/// keeps one keeps the other end waiting for as long as it lives. Before glibc 2.34 there is no such action,
/// and the child inherits what is not marked `FD_CLOEXEC`.
package func closeDescriptors(from lowest: Int32, in actions: inout posix_spawn_file_actions_t) {
    // Looked up, because the header shows it to programs alone that ask for GNU's extensions.
    typealias AddClose = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    guard let add: AddClose = libraryFunction("posix_spawn_file_actions_addclosefrom_np") else { return }
    _ = add(&actions, lowest)
}

/// Has a child that is about to start run in `folder`.
///
/// - Returns: False before glibc 2.29, which has no such action.
package func changeFolder(to folder: String, in actions: inout posix_spawn_file_actions_t) -> Bool {
    typealias AddChange =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32
    guard let add: AddChange = libraryFunction("posix_spawn_file_actions_addchdir_np") else { return false }
    return add(&actions, folder) == 0
}

/// Has a child that is about to start block no signal, and begin with the default action for `signals`, which it would
/// otherwise ignore where this process does.
///
/// - Parameter signals: Nil for all of them.
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

/// Starts the next child in a session of its own.
package func leadSession(in attributes: inout posix_spawnattr_t) {
    // POSIX_SPAWN_SETSID (spawn.h), which the header shows to programs alone that ask for GNU's extensions.
    addFlags(0x80, to: &attributes)
}

/// Starts the next child in a process group of its own, so that Ctrl-C at this terminal does not end it.
package func leadGroup(in attributes: inout posix_spawnattr_t) {
    posix_spawnattr_setpgroup(&attributes, 0)
    addFlags(POSIX_SPAWN_SETPGROUP, to: &attributes)
}

private func addFlags(_ added: Int32, to attributes: inout posix_spawnattr_t) {
    var flags: Int16 = 0
    posix_spawnattr_getflags(&attributes, &flags)
    posix_spawnattr_setflags(&attributes, flags | Int16(added))
}
