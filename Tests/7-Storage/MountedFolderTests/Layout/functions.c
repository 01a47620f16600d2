// Gives each function type of this package the library's function, and each member of the table the library's member: a
// difference does not compile.
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>

// This package's table under another name, and the library's structures in the place of the others.
#define KEYCHAIN_FUSE3_TYPES
#define fuse_lowlevel_ops keychain_lowlevel_ops
#include "fuse3.h"
#undef fuse_lowlevel_ops

fuse_session_mount_Function check_fuse_session_mount = fuse_session_mount;
fuse_session_receive_buf_Function check_fuse_session_receive_buf = fuse_session_receive_buf;
fuse_session_process_buf_Function check_fuse_session_process_buf = fuse_session_process_buf;
fuse_session_exited_Function check_fuse_session_exited = fuse_session_exited;
fuse_session_exit_Function check_fuse_session_exit = fuse_session_exit;
fuse_session_unmount_Function check_fuse_session_unmount = fuse_session_unmount;
fuse_session_destroy_Function check_fuse_session_destroy = fuse_session_destroy;
fuse_req_userdata_Function check_fuse_req_userdata = fuse_req_userdata;
fuse_req_ctx_Function check_fuse_req_ctx = fuse_req_ctx;
fuse_reply_err_Function check_fuse_reply_err = fuse_reply_err;
fuse_reply_none_Function check_fuse_reply_none = fuse_reply_none;
fuse_reply_entry_Function check_fuse_reply_entry = fuse_reply_entry;
fuse_reply_create_Function check_fuse_reply_create = fuse_reply_create;
fuse_reply_attr_Function check_fuse_reply_attr = fuse_reply_attr;
fuse_reply_readlink_Function check_fuse_reply_readlink = fuse_reply_readlink;
fuse_reply_open_Function check_fuse_reply_open = fuse_reply_open;
fuse_reply_write_Function check_fuse_reply_write = fuse_reply_write;
fuse_reply_buf_Function check_fuse_reply_buf = fuse_reply_buf;
fuse_reply_statfs_Function check_fuse_reply_statfs = fuse_reply_statfs;
fuse_reply_xattr_Function check_fuse_reply_xattr = fuse_reply_xattr;
fuse_add_direntry_Function check_fuse_add_direntry = fuse_add_direntry;
fuse_add_direntry_plus_Function check_fuse_add_direntry_plus = fuse_add_direntry_plus;
fuse_lowlevel_notify_inval_inode_Function check_fuse_lowlevel_notify_inval_inode = fuse_lowlevel_notify_inval_inode;
struct fuse_session *(*check_fuse_session_new)(
    struct fuse_args *, const struct fuse_lowlevel_ops *, size_t, void *) = fuse_session_new;

#define MEMBER(name) \
    _Static_assert( \
        __builtin_types_compatible_p( \
            __typeof__(((struct keychain_lowlevel_ops *)0)->name), __typeof__(((struct fuse_lowlevel_ops *)0)->name)), \
        #name);
MEMBER(init)
MEMBER(lookup)
MEMBER(forget)
MEMBER(getattr)
MEMBER(setattr)
MEMBER(readlink)
MEMBER(mknod)
MEMBER(mkdir)
MEMBER(unlink)
MEMBER(rmdir)
MEMBER(symlink)
MEMBER(rename)
MEMBER(link)
MEMBER(open)
MEMBER(read)
MEMBER(write)
MEMBER(flush)
MEMBER(release)
MEMBER(fsync)
MEMBER(opendir)
MEMBER(readdir)
MEMBER(releasedir)
MEMBER(fsyncdir)
MEMBER(statfs)
MEMBER(setxattr)
MEMBER(getxattr)
MEMBER(listxattr)
MEMBER(removexattr)
MEMBER(create)
MEMBER(forget_multi)
MEMBER(readdirplus)
