// Prints sizes, offsets and constants, of libfuse's headers or of this package's declarations of them.
#ifdef LIBRARY
#define FUSE_USE_VERSION 35
#include <fuse_lowlevel.h>
#define MASK(name, member) \
    do { \
        struct fuse_file_info info; \
        memset(&info, 0, sizeof(info)); \
        info.member = 1; \
        uint32_t bits; \
        memcpy(&bits, (char *)&info + sizeof(int), sizeof(bits)); \
        printf("%s: %u\n", #name, bits); \
    } while (0);
#define CONSTANT(here, there) printf("%s: %u\n", #here, (unsigned)(there));
#else
#include "fuse3.h"
#define MASK(name, member) printf("%s: %u\n", #name, KEYCHAIN_FUSE_##name);
#define CONSTANT(here, there) printf("%s: %u\n", #here, (unsigned)(here));
#endif
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SIZE(type) printf("%s: %zu\n", #type, sizeof(type));
#define OFFSET(type, member) printf("%s.%s: %zu\n", #type, #member, offsetof(type, member));

int main(void) {
    SIZE(struct fuse_args)
    OFFSET(struct fuse_args, argv)
    OFFSET(struct fuse_args, allocated)
    SIZE(struct fuse_ctx)
    OFFSET(struct fuse_ctx, uid)
    OFFSET(struct fuse_ctx, gid)
    OFFSET(struct fuse_ctx, pid)
    OFFSET(struct fuse_ctx, umask)
    SIZE(struct fuse_forget_data)
    OFFSET(struct fuse_forget_data, nlookup)
    SIZE(struct fuse_entry_param)
    OFFSET(struct fuse_entry_param, generation)
    OFFSET(struct fuse_entry_param, attr)
    OFFSET(struct fuse_entry_param, attr_timeout)
    OFFSET(struct fuse_entry_param, entry_timeout)
    SIZE(struct fuse_file_info)
    OFFSET(struct fuse_file_info, flags)
    OFFSET(struct fuse_file_info, fh)
    OFFSET(struct fuse_file_info, lock_owner)
    OFFSET(struct fuse_file_info, poll_events)
    MASK(WRITEPAGE, writepage)
    MASK(KEEP_CACHE, keep_cache)
    SIZE(struct fuse_conn_info)
    OFFSET(struct fuse_conn_info, max_write)
    OFFSET(struct fuse_conn_info, capable)
    OFFSET(struct fuse_conn_info, want)
    OFFSET(struct fuse_conn_info, time_gran)
    CONSTANT(KEYCHAIN_FUSE_AUTO_INVAL_DATA, FUSE_CAP_AUTO_INVAL_DATA)
    CONSTANT(KEYCHAIN_FUSE_HANDLE_KILLPRIV, FUSE_CAP_HANDLE_KILLPRIV)
    CONSTANT(KEYCHAIN_FUSE_EXPLICIT_INVAL_DATA, FUSE_CAP_EXPLICIT_INVAL_DATA)
    CONSTANT(KEYCHAIN_FUSE_SET_MODE, FUSE_SET_ATTR_MODE)
    CONSTANT(KEYCHAIN_FUSE_SET_UID, FUSE_SET_ATTR_UID)
    CONSTANT(KEYCHAIN_FUSE_SET_GID, FUSE_SET_ATTR_GID)
    CONSTANT(KEYCHAIN_FUSE_SET_SIZE, FUSE_SET_ATTR_SIZE)
    CONSTANT(KEYCHAIN_FUSE_SET_ATIME, FUSE_SET_ATTR_ATIME)
    CONSTANT(KEYCHAIN_FUSE_SET_MTIME, FUSE_SET_ATTR_MTIME)
    CONSTANT(KEYCHAIN_FUSE_SET_ATIME_NOW, FUSE_SET_ATTR_ATIME_NOW)
    CONSTANT(KEYCHAIN_FUSE_SET_MTIME_NOW, FUSE_SET_ATTR_MTIME_NOW)
    SIZE(struct fuse_buf)
    OFFSET(struct fuse_buf, flags)
    OFFSET(struct fuse_buf, mem)
    OFFSET(struct fuse_buf, fd)
    OFFSET(struct fuse_buf, pos)
    // The library takes as many functions as it is told there are.
    OFFSET(struct fuse_lowlevel_ops, init)
    OFFSET(struct fuse_lowlevel_ops, lookup)
    OFFSET(struct fuse_lowlevel_ops, forget)
    OFFSET(struct fuse_lowlevel_ops, getattr)
    OFFSET(struct fuse_lowlevel_ops, setattr)
    OFFSET(struct fuse_lowlevel_ops, readlink)
    OFFSET(struct fuse_lowlevel_ops, mknod)
    OFFSET(struct fuse_lowlevel_ops, mkdir)
    OFFSET(struct fuse_lowlevel_ops, unlink)
    OFFSET(struct fuse_lowlevel_ops, rmdir)
    OFFSET(struct fuse_lowlevel_ops, symlink)
    OFFSET(struct fuse_lowlevel_ops, rename)
    OFFSET(struct fuse_lowlevel_ops, link)
    OFFSET(struct fuse_lowlevel_ops, open)
    OFFSET(struct fuse_lowlevel_ops, read)
    OFFSET(struct fuse_lowlevel_ops, write)
    OFFSET(struct fuse_lowlevel_ops, flush)
    OFFSET(struct fuse_lowlevel_ops, release)
    OFFSET(struct fuse_lowlevel_ops, fsync)
    OFFSET(struct fuse_lowlevel_ops, opendir)
    OFFSET(struct fuse_lowlevel_ops, readdir)
    OFFSET(struct fuse_lowlevel_ops, releasedir)
    OFFSET(struct fuse_lowlevel_ops, fsyncdir)
    OFFSET(struct fuse_lowlevel_ops, statfs)
    OFFSET(struct fuse_lowlevel_ops, setxattr)
    OFFSET(struct fuse_lowlevel_ops, getxattr)
    OFFSET(struct fuse_lowlevel_ops, listxattr)
    OFFSET(struct fuse_lowlevel_ops, removexattr)
    OFFSET(struct fuse_lowlevel_ops, create)
    OFFSET(struct fuse_lowlevel_ops, forget_multi)
    OFFSET(struct fuse_lowlevel_ops, readdirplus)
    return 0;
}
