import CFuse3
import SystemLibraries

/// The functions of the system's libfuse that this module calls.
struct Fuse3: Sendable {
    let newSession: fuse_session_new_Function
    let mount: fuse_session_mount_Function
    let receive: fuse_session_receive_buf_Function
    let process: fuse_session_process_buf_Function
    let hasExited: fuse_session_exited_Function
    let exit: fuse_session_exit_Function
    let unmount: fuse_session_unmount_Function
    let destroy: fuse_session_destroy_Function

    let userData: fuse_req_userdata_Function
    let context: fuse_req_ctx_Function
    let replyError: fuse_reply_err_Function
    let replyNone: fuse_reply_none_Function
    let replyEntry: fuse_reply_entry_Function
    let replyCreate: fuse_reply_create_Function
    let replyAttributes: fuse_reply_attr_Function
    let replyLink: fuse_reply_readlink_Function
    let replyOpen: fuse_reply_open_Function
    let replyWrite: fuse_reply_write_Function
    let replyBytes: fuse_reply_buf_Function
    let replySystem: fuse_reply_statfs_Function
    let replyAttributeSize: fuse_reply_xattr_Function
    let addEntry: fuse_add_direntry_Function
    let addEntryPlus: fuse_add_direntry_plus_Function
    let invalidate: fuse_lowlevel_notify_inval_inode_Function

    /// Loaded at the first use.
    static let loaded: Result<Fuse3, SystemLibraryError> = Result(catching: Fuse3.init)

    private init() throws(SystemLibraryError) {
        let library = try SystemLibrary("libfuse3.so.3", provides: "mounting (the package fuse3)")
        newSession = try library.function("fuse_session_new")
        mount = try library.function("fuse_session_mount")
        receive = try library.function("fuse_session_receive_buf")
        process = try library.function("fuse_session_process_buf")
        hasExited = try library.function("fuse_session_exited")
        exit = try library.function("fuse_session_exit")
        unmount = try library.function("fuse_session_unmount")
        destroy = try library.function("fuse_session_destroy")
        userData = try library.function("fuse_req_userdata")
        context = try library.function("fuse_req_ctx")
        replyError = try library.function("fuse_reply_err")
        replyNone = try library.function("fuse_reply_none")
        replyEntry = try library.function("fuse_reply_entry")
        replyCreate = try library.function("fuse_reply_create")
        replyAttributes = try library.function("fuse_reply_attr")
        replyLink = try library.function("fuse_reply_readlink")
        replyOpen = try library.function("fuse_reply_open")
        replyWrite = try library.function("fuse_reply_write")
        replyBytes = try library.function("fuse_reply_buf")
        replySystem = try library.function("fuse_reply_statfs")
        replyAttributeSize = try library.function("fuse_reply_xattr")
        addEntry = try library.function("fuse_add_direntry")
        addEntryPlus = try library.function("fuse_add_direntry_plus")
        invalidate = try library.function("fuse_lowlevel_notify_inval_inode")
    }
}
