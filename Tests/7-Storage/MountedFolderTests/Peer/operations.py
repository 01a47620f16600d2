#!/usr/bin/env python3
"""Does the same operations in several folders and prints how each ended: what permissions and kinds of files forbid,
and with which error.

    operations.py FOLDER [users]    prints one line for each operation: its name, and "ok" or the name of the error

With `users`, which needs root, operations are also done as other users.
"""
import errno
import os
import socket
import stat
import sys
import time

root = sys.argv[1]
with_users = "users" in sys.argv[2:]
OWNER, GROUP, OTHER = 12001, 12002, 12003
results = []


def attempt(name, operation, uid=None, gid=None, groups=()):
    """Runs an operation, as another user in a process of its own, and notes how it ended."""
    if uid is None:
        results.append((name, outcome(operation)))
        return
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups(list(groups))
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        os.write(writer, outcome(operation).encode())
        os._exit(0)
    os.close(writer)
    text = b""
    while True:
        piece = os.read(reader, 4096)
        if not piece:
            break
        text += piece
    os.close(reader)
    os.waitpid(child, 0)
    results.append((name, text.decode()))


def outcome(operation):
    try:
        value = operation()
        return "ok" if value is None else f"ok {value}"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))


def path(*names):
    return os.path.join(root, *names)


def create(name, mode=0o644, data=b"data"):
    descriptor = os.open(path(name), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    os.write(descriptor, data)
    os.close(descriptor)
    os.chmod(path(name), mode)
    return path(name)


def opened(name, flags, mode=0o600):
    def operation():
        os.close(os.open(path(name), flags, mode))
    return operation


def mode_of(name):
    return oct(os.lstat(path(name)).st_mode)


def like(name):
    """What can be compared between file systems."""
    info = os.lstat(path(name))
    return f"{oct(info.st_mode)} {info.st_nlink if not stat.S_ISDIR(info.st_mode) else '-'} {info.st_uid} {info.st_gid} " + (
        str(info.st_size) if not stat.S_ISDIR(info.st_mode) else "-")


def write_to(name, flags=os.O_WRONLY):
    def operation():
        descriptor = os.open(path(name), flags)
        try:
            os.write(descriptor, b"x")
        finally:
            os.close(descriptor)
    return operation


os.umask(0o022)
create("file")
os.mkdir(path("folder"))
os.mkdir(path("full"))
create("full/inside")
os.mkdir(path("empty"))
os.symlink("file", path("link"))
os.symlink("nowhere", path("dangling"))
os.symlink("loop-b", path("loop-a"))
os.symlink("loop-a", path("loop-b"))
os.mkfifo(path("pipe"))

# Kinds and existence.
attempt("open missing", opened("missing", os.O_RDONLY))
attempt("open folder for writing", opened("folder", os.O_WRONLY))
attempt("open file as folder", opened("file", os.O_RDONLY | os.O_DIRECTORY))
attempt("open below a file", opened("file/x", os.O_RDONLY))
attempt("create existing exclusively", opened("file", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
attempt("create existing folder", opened("folder", os.O_CREAT | os.O_WRONLY))
attempt("open link without following", opened("link", os.O_RDONLY | os.O_NOFOLLOW))
attempt("open dangling", opened("dangling", os.O_RDONLY))
attempt("create through dangling", opened("dangling", os.O_CREAT | os.O_WRONLY))
attempt("made through dangling", lambda: like("nowhere"))
attempt("open loop", opened("loop-a", os.O_RDONLY))
attempt("mkdir existing", lambda: os.mkdir(path("folder")))
attempt("mkdir over file", lambda: os.mkdir(path("file")))
attempt("mkdir below missing", lambda: os.mkdir(path("missing/x")))
attempt("mkdir below file", lambda: os.mkdir(path("file/x")))
attempt("rmdir full", lambda: os.rmdir(path("full")))
attempt("rmdir file", lambda: os.rmdir(path("file")))
attempt("rmdir link", lambda: os.rmdir(path("link")))
attempt("rmdir missing", lambda: os.rmdir(path("missing")))
attempt("rmdir dot", lambda: os.rmdir(path("empty/.")))
attempt("unlink folder", lambda: os.unlink(path("folder")))
attempt("unlink missing", lambda: os.unlink(path("missing")))
attempt("link folder", lambda: os.link(path("folder"), path("hard")))
attempt("link existing", lambda: os.link(path("file"), path("full/inside")))
attempt("link missing", lambda: os.link(path("missing"), path("hard")))
attempt("link", lambda: os.link(path("file"), path("hard")))
attempt("link count", lambda: os.stat(path("file")).st_nlink)
attempt("unlink hard", lambda: os.unlink(path("hard")))
attempt("symlink existing", lambda: os.symlink("x", path("file")))
attempt("readlink file", lambda: os.readlink(path("file")))
attempt("readlink", lambda: os.readlink(path("link")))
attempt("truncate folder", lambda: os.truncate(path("folder"), 0))
attempt("truncate missing", lambda: os.truncate(path("missing"), 0))
attempt("truncate negative", lambda: os.truncate(path("file"), -1))
attempt("read folder", lambda: os.read(os.open(path("folder"), os.O_RDONLY), 1))
attempt("long name", opened("n" * 300, os.O_CREAT | os.O_WRONLY))
attempt("long path", opened("/".join(["n" * 100] * 50), os.O_RDONLY))
attempt("mkfifo existing", lambda: os.mkfifo(path("pipe")))
attempt("pipe", lambda: like("pipe"))
attempt("open pipe without reader", opened("pipe", os.O_WRONLY | os.O_NONBLOCK))


def bind():
    server = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(root)
    try:
        server.bind("socket")
    finally:
        os.chdir(here)
        server.close()


attempt("bind", bind)
attempt("bind again", bind)
attempt("open socket", opened("socket", os.O_RDONLY))

# Renaming.
for source, target in [
        ("missing", "x"), ("file", "folder"), ("folder", "file"), ("empty", "full"), ("full", "full/inside/x"),
        ("full", "full/sub"), ("file", "missing/x"), ("file", "file"), ("folder", "folder/x")]:
    attempt(f"rename {source} {target}", lambda source=source, target=target: os.rename(path(source), path(target)))
attempt("rename full empty", lambda: os.rename(path("full"), path("empty")))
attempt("renamed over empty", lambda: sorted(os.listdir(path("empty"))))
attempt("old name", lambda: os.lstat(path("full")) and None)
os.rename(path("empty"), path("full"))
os.mkdir(path("empty"))
create("a", data=b"first")
create("b", data=b"second")
attempt("rename over file", lambda: os.rename(path("a"), path("b")))
attempt("renamed over file", lambda: open(path("b"), "rb").read())
os.link(path("b"), path("c"))
attempt("rename to the same file", lambda: os.rename(path("b"), path("c")))
attempt("both remain", lambda: sorted(name for name in os.listdir(root) if name in "abc"))
attempt("rename dot", lambda: os.rename(path("folder/."), path("x")))

# Descriptors that are not for it.
with open(path("file"), "rb") as file:
    attempt("write to reader", lambda: os.write(file.fileno(), b"x"))
    attempt("truncate reader", lambda: os.ftruncate(file.fileno(), 0))
with open(path("file"), "ab") as file:
    attempt("read from writer", lambda: os.read(file.fileno(), 1))

# Open files that lose their name.
descriptor = os.open(create("going"), os.O_RDWR)
attempt("unlink open", lambda: os.unlink(path("going")))
attempt("write unlinked", lambda: os.write(descriptor, b"after"))
attempt("read unlinked", lambda: os.pread(descriptor, 10, 0))
attempt("stat unlinked", lambda: (os.fstat(descriptor).st_nlink, os.fstat(descriptor).st_size))
attempt("chmod unlinked", lambda: os.fchmod(descriptor, 0o600))
attempt("truncate unlinked", lambda: os.ftruncate(descriptor, 2))
attempt("sync unlinked", lambda: os.fsync(descriptor))
os.close(descriptor)
folder = os.open(path("empty"), os.O_RDONLY)
attempt("rmdir open", lambda: os.rmdir(path("empty")))
attempt("list removed", lambda: os.listdir(folder))
attempt("create in removed", lambda: os.open("x", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=folder))
os.close(folder)

# Modes, masks and times.
for mask in (0, 0o027, 0o777):
    os.umask(mask)
    name = f"masked-{mask:o}"
    attempt(f"create with umask {mask:o}", opened(name, os.O_CREAT | os.O_WRONLY, 0o666))
    attempt(f"mode with umask {mask:o}", lambda name=name: mode_of(name))
    attempt(f"mkdir with umask {mask:o}", lambda name=name: os.mkdir(path(name + "-folder"), 0o777))
    attempt(f"mode of folder with umask {mask:o}", lambda name=name: mode_of(name + "-folder"))
os.umask(0o022)
for mode in (0, 0o7777, 0o1777, 0o4755, 0o2755, 0o444):
    attempt(f"chmod {mode:o}", lambda mode=mode: os.chmod(path("file"), mode))
    attempt(f"mode {mode:o}", lambda: mode_of("file"))
    attempt(f"chmod folder {mode:o}", lambda mode=mode: os.chmod(path("folder"), mode))
    attempt(f"mode of folder {mode:o}", lambda: mode_of("folder"))
os.chmod(path("file"), 0o644)
os.chmod(path("folder"), 0o755)
attempt("read only from the start", lambda: os.write(os.open(path("locked"), os.O_CREAT | os.O_RDWR, 0o444), b"data"))
attempt("its data", lambda: os.stat(path("locked")).st_size)
attempt("utime", lambda: os.utime(path("file"), ns=(1_000_000_001, 2_000_000_002)))
attempt("times", lambda: (os.stat(path("file")).st_atime_ns, os.stat(path("file")).st_mtime_ns))
attempt("utime of link", lambda: os.utime(path("link"), ns=(3, 4), follow_symlinks=False))
attempt("times of link", lambda: os.lstat(path("link")).st_mtime_ns)
descriptor = os.open(path("file"), os.O_WRONLY)
os.write(descriptor, b"new data")
os.utime(descriptor, ns=(5_000_000_000, 6_000_000_000))
os.close(descriptor)
attempt("times set before closing stay", lambda: os.stat(path("file")).st_mtime_ns)
before = time.time_ns() - 2_000_000_000
write_to("file")()
attempt("writing sets the time", lambda: os.stat(path("file")).st_mtime_ns >= before)
os.utime(path("folder"), ns=(1, 1))
create("folder/new")
attempt("creating sets the folder's time", lambda: os.stat(path("folder")).st_mtime_ns >= before)
attempt("chown to oneself", lambda: os.chown(path("file"), os.geteuid(), os.getegid()))
attempt("xattr missing", lambda: os.getxattr(path("file"), "user.none"))
attempt("xattr remove missing", lambda: os.removexattr(path("file"), "user.none"))

if with_users:
    os.chmod(root, 0o755)
    os.mkdir(path("sticky"))
    os.chmod(path("sticky"), 0o1777)
    os.mkdir(path("setgid"))
    os.chown(path("setgid"), OWNER, GROUP)
    os.chmod(path("setgid"), 0o2777)
    os.mkdir(path("closed"))
    os.chmod(path("closed"), 0o700)
    create("closed/file")
    os.mkdir(path("theirs"))
    os.chown(path("theirs"), OWNER, OWNER)
    users = [("owner", OWNER, OWNER, ()), ("member", OTHER, OTHER, (GROUP,)), ("other", OTHER, OTHER, ())]
    for mode in (0o600, 0o640, 0o060, 0o006, 0o400, 0o200, 0o000, 0o666):
        name = f"mode-{mode:o}"
        create(name)
        os.chown(path(name), OWNER, GROUP)
        os.chmod(path(name), mode)
        for who, uid, gid, groups in users:
            for flags, word in ((os.O_RDONLY, "read"), (os.O_WRONLY, "write"), (os.O_RDWR, "both"),
                                (os.O_WRONLY | os.O_TRUNC, "cut")):
                attempt(f"{who} opens {mode:o} to {word}", opened(name, flags), uid, gid, groups)
            attempt(f"{who} truncates {mode:o}", lambda name=name: os.truncate(path(name), 1), uid, gid, groups)
    for who, uid, gid, groups in users:
        owned = f"of-{who}"
        attempt(f"{who} creates in a sticky folder", opened(f"sticky/{owned}", os.O_CREAT | os.O_WRONLY), uid, gid, groups)
        attempt(f"owner of what {who} made", lambda owned=owned: like(f"sticky/{owned}"))
        attempt(f"{who} creates in a setgid folder", opened(f"setgid/{owned}", os.O_CREAT | os.O_WRONLY), uid, gid, groups)
        attempt(f"group of what {who} made", lambda owned=owned: like(f"setgid/{owned}"))
        attempt(f"{who} makes a setgid folder", lambda owned=owned: os.mkdir(path(f"setgid/{owned}-folder")), uid, gid, groups)
        attempt(f"mode of what {who} made", lambda owned=owned: like(f"setgid/{owned}-folder"))
        attempt(f"{who} links in a sticky folder", lambda owned=owned: os.symlink("x", path(f"sticky/{owned}-link")), uid, gid, groups)
        attempt(f"owner of the link of {who}", lambda owned=owned: like(f"sticky/{owned}-link"))
        attempt(f"{who} makes a pipe", lambda owned=owned: os.mkfifo(path(f"sticky/{owned}-pipe")), uid, gid, groups)
        attempt(f"{who} enters a closed folder", opened("closed/file", os.O_RDONLY), uid, gid, groups)
        attempt(f"{who} lists a closed folder", lambda: os.listdir(path("closed")) and None, uid, gid, groups)
        attempt(f"{who} creates in the root", opened(f"root-{who}", os.O_CREAT | os.O_WRONLY), uid, gid, groups)
        attempt(f"{who} creates in the owner's", opened(f"theirs/{owned}", os.O_CREAT | os.O_WRONLY), uid, gid, groups)
        attempt(f"{who} removes the root's", lambda: os.unlink(path("file")), uid, gid, groups)
        attempt(f"{who} chmods the root's", lambda: os.chmod(path("file"), 0o777), uid, gid, groups)
        attempt(f"{who} gives the root's away", lambda: os.chown(path("file"), OTHER, -1), uid, gid, groups)
        attempt(f"{who} sets times of the root's", lambda: os.utime(path("file"), ns=(1, 1)), uid, gid, groups)
        attempt(f"{who} touches the root's", lambda: os.utime(path("file")), uid, gid, groups)
        attempt(f"{who} sets the class of the root's",
                lambda: os.setxattr(path("file"), "user.something", b"none"), uid, gid, groups)
    attempt("other removes in a sticky folder", lambda: os.unlink(path("sticky/of-owner")), OTHER, OTHER)
    attempt("other renames in a sticky folder", lambda: os.rename(path("sticky/of-owner"), path("sticky/x")), OTHER, OTHER)
    attempt("other replaces in a sticky folder", lambda: os.rename(path("sticky/of-other"), path("sticky/of-owner")), OTHER, OTHER)
    attempt("owner removes in a sticky folder", lambda: os.unlink(path("sticky/of-owner")), OWNER, OWNER)
    create("given", 0o6755)
    attempt("root gives away", lambda: os.chown(path("given"), OWNER, GROUP))
    attempt("set bits after giving away", lambda: like("given"))
    os.chmod(path("given"), 0o6777)
    attempt("other writes to a setuid file", write_to("given"), OTHER, OTHER)
    attempt("set bits after writing", lambda: like("given"))
    os.chmod(path("given"), 0o6777)
    attempt("other cuts a setuid file", lambda: os.truncate(path("given"), 1), OTHER, OTHER)
    attempt("set bits after cutting", lambda: like("given"))
    attempt("owner gives to group", lambda: os.chown(path("given"), -1, GROUP), OWNER, OWNER, (GROUP,))
    attempt("owner gives to strange group", lambda: os.chown(path("given"), -1, 54321), OWNER, OWNER)
    attempt("owner sets the group bit", lambda: os.chmod(path("given"), 0o2755), OWNER, OWNER)
    attempt("mode without being in the group", lambda: like("given"))

for name, result in results:
    print(f"{name}: {result}")
