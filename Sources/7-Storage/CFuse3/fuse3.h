// The part of libfuse 3's low-level interface that this package uses, with the library's memory layout.
//
// The names are those of fuse_lowlevel.h and fuse_common.h. With these declarations, the package builds without
// libfuse's headers, and loads the library at run time. A test compares each size and offset with the headers, and
// assigns the library's function to each function type.
#ifndef KEYCHAIN_FUSE3_H
#define KEYCHAIN_FUSE3_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#ifndef KEYCHAIN_FUSE3_TYPES
typedef uint64_t fuse_ino_t;
typedef struct fuse_req *fuse_req_t;
struct fuse_session;

struct fuse_args {
    int argc;
    char **argv;
    int allocated;
};

struct fuse_ctx {
    uid_t uid;
    gid_t gid;
    pid_t pid;
    mode_t umask;
};

struct fuse_forget_data {
    fuse_ino_t ino;
    uint64_t nlookup;
};

struct fuse_entry_param {
    fuse_ino_t ino;
    uint64_t generation;
    struct stat attr;
    double attr_timeout;
    double entry_timeout;
};

// The header has bit fields instead of `bits`. These are their masks on little-endian machines.
struct fuse_file_info {
    int flags;
    uint32_t bits;
    uint32_t padding;
    uint64_t fh;
    uint64_t lock_owner;
    uint32_t poll_events;
};

static const uint32_t KEYCHAIN_FUSE_WRITEPAGE = 1 << 0;
static const uint32_t KEYCHAIN_FUSE_KEEP_CACHE = 1 << 2;

struct fuse_conn_info {
    unsigned proto_major;
    unsigned proto_minor;
    unsigned max_write;
    unsigned max_read;
    unsigned max_readahead;
    unsigned capable;
    unsigned want;
    unsigned max_background;
    unsigned congestion_threshold;
    unsigned time_gran;
    unsigned reserved[22];
};

static const unsigned KEYCHAIN_FUSE_AUTO_INVAL_DATA = 1 << 12;
static const unsigned KEYCHAIN_FUSE_HANDLE_KILLPRIV = 1 << 20;
static const unsigned KEYCHAIN_FUSE_EXPLICIT_INVAL_DATA = 1 << 25;

static const int KEYCHAIN_FUSE_SET_MODE = 1 << 0;
static const int KEYCHAIN_FUSE_SET_UID = 1 << 1;
static const int KEYCHAIN_FUSE_SET_GID = 1 << 2;
static const int KEYCHAIN_FUSE_SET_SIZE = 1 << 3;
static const int KEYCHAIN_FUSE_SET_ATIME = 1 << 4;
static const int KEYCHAIN_FUSE_SET_MTIME = 1 << 5;
static const int KEYCHAIN_FUSE_SET_ATIME_NOW = 1 << 7;
static const int KEYCHAIN_FUSE_SET_MTIME_NOW = 1 << 8;

struct fuse_buf {
    size_t size;
    unsigned flags;
    void *mem;
    int fd;
    off_t pos;
};

#endif

// The functions of a file system, up to the last one that this package implements. Those that it never implements are
// plain pointers.
struct fuse_lowlevel_ops {
    void (*init)(void *userdata, struct fuse_conn_info *conn);
    void *destroy;
    void (*lookup)(fuse_req_t req, fuse_ino_t parent, const char *name);
    void (*forget)(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup);
    void (*getattr)(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
    void (*setattr)(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi);
    void (*readlink)(fuse_req_t req, fuse_ino_t ino);
    void (*mknod)(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev);
    void (*mkdir)(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
    void (*unlink)(fuse_req_t req, fuse_ino_t parent, const char *name);
    void (*rmdir)(fuse_req_t req, fuse_ino_t parent, const char *name);
    void (*symlink)(fuse_req_t req, const char *link, fuse_ino_t parent, const char *name);
    void (*rename)(
        fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent, const char *newname,
        unsigned int flags);
    void (*link)(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent, const char *newname);
    void (*open)(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
    void (*read)(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
    void (*write)(
        fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off, struct fuse_file_info *fi);
    void (*flush)(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
    void (*release)(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
    void (*fsync)(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
    void (*opendir)(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
    void (*readdir)(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
    void (*releasedir)(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
    void (*fsyncdir)(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
    void (*statfs)(fuse_req_t req, fuse_ino_t ino);
    void (*setxattr)(
        fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags);
    void (*getxattr)(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
    void (*listxattr)(fuse_req_t req, fuse_ino_t ino, size_t size);
    void (*removexattr)(fuse_req_t req, fuse_ino_t ino, const char *name);
    void *access;
    void (*create)(
        fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi);
    void *getlk;
    void *setlk;
    void *bmap;
    void *ioctl;
    void *poll;
    void *write_buf;
    void *retrieve_reply;
    void (*forget_multi)(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
    void *flock;
    void *fallocate;
    void (*readdirplus)(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
};

typedef struct fuse_session *(*fuse_session_new_Function)(
    struct fuse_args *args, const struct fuse_lowlevel_ops *op, size_t op_size, void *userdata);
typedef int (*fuse_session_mount_Function)(struct fuse_session *se, const char *mountpoint);
typedef int (*fuse_session_receive_buf_Function)(struct fuse_session *se, struct fuse_buf *buf);
typedef void (*fuse_session_process_buf_Function)(struct fuse_session *se, const struct fuse_buf *buf);
typedef int (*fuse_session_exited_Function)(struct fuse_session *se);
typedef void (*fuse_session_exit_Function)(struct fuse_session *se);
typedef void (*fuse_session_unmount_Function)(struct fuse_session *se);
typedef void (*fuse_session_destroy_Function)(struct fuse_session *se);

typedef void *(*fuse_req_userdata_Function)(fuse_req_t req);
typedef const struct fuse_ctx *(*fuse_req_ctx_Function)(fuse_req_t req);
typedef int (*fuse_reply_err_Function)(fuse_req_t req, int err);
typedef void (*fuse_reply_none_Function)(fuse_req_t req);
typedef int (*fuse_reply_entry_Function)(fuse_req_t req, const struct fuse_entry_param *e);
typedef int (*fuse_reply_create_Function)(
    fuse_req_t req, const struct fuse_entry_param *e, const struct fuse_file_info *fi);
typedef int (*fuse_reply_attr_Function)(fuse_req_t req, const struct stat *attr, double attr_timeout);
typedef int (*fuse_reply_readlink_Function)(fuse_req_t req, const char *link);
typedef int (*fuse_reply_open_Function)(fuse_req_t req, const struct fuse_file_info *fi);
typedef int (*fuse_reply_write_Function)(fuse_req_t req, size_t count);
typedef int (*fuse_reply_buf_Function)(fuse_req_t req, const char *buf, size_t size);
typedef int (*fuse_reply_statfs_Function)(fuse_req_t req, const struct statvfs *stbuf);
typedef int (*fuse_reply_xattr_Function)(fuse_req_t req, size_t count);
typedef size_t (*fuse_add_direntry_Function)(
    fuse_req_t req, char *buf, size_t bufsize, const char *name, const struct stat *stbuf, off_t off);
typedef size_t (*fuse_add_direntry_plus_Function)(
    fuse_req_t req, char *buf, size_t bufsize, const char *name, const struct fuse_entry_param *e, off_t off);
typedef int (*fuse_lowlevel_notify_inval_inode_Function)(
    struct fuse_session *se, fuse_ino_t ino, off_t off, off_t len);

#endif
