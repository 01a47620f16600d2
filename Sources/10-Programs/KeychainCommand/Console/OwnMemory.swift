import VaultService

/// The memory of this process.
enum OwnMemory {
    /// Has no other process of the user read it (PR_SET_DUMPABLE, prctl(2)), until another program takes its place.
    static func hide() {
        // SYS_prctl differs between architectures.
        #if arch(x86_64)
        _ = systemCall(157, 4, 0)
        #else
        _ = systemCall(167, 4, 0)
        #endif
    }
}
