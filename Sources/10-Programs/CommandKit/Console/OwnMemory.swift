import SystemLibraries

/// The memory of this process.
package enum OwnMemory {
    /// Keeps other processes of the user from reading it (PR_SET_DUMPABLE, prctl(2)), until another program replaces
    /// this one.
    package static func hide() {
        // SYS_prctl differs between architectures.
        #if arch(x86_64)
        _ = systemCall(157, 4, 0)
        #else
        _ = systemCall(167, 4, 0)
        #endif
    }
}
