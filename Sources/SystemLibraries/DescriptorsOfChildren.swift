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
