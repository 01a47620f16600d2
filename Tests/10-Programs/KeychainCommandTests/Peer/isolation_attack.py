"""What a program tries that `keychain run --isolated` runs.

    isolation_attack.py FILE

FILE has what there is to attack, as JSON: `vault`, `socket` (of the daemon), `tcp` (a port of the host's loopback
interface), `abstract` and `datagram` (names of sockets), `processes` (keychain and its broker), `secret` (a file below
/tmp), `outside` (a file that is not the project's). Prints a line for each case: its name, and `nothing` or what it got.
"""
import ctypes, json, os, signal, socket, struct, sys

PLACES = json.load(open(sys.argv[1]))
VAULT, PROCESSES = PLACES["vault"], PLACES["processes"]
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
IS_ARM = os.uname().machine == "aarch64"
NUMBERS = dict(
    socket=(41, 198), ptrace=(101, 117), io_uring_setup=(425, 425), keyctl=(250, 219), open_by_handle_at=(304, 265),
    unshare=(272, 97), setns=(308, 268), mount=(165, 40), umount2=(166, 39), pidfd_open=(434, 434), bpf=(321, 280),
    process_vm_readv=(310, 270), chroot=(161, 51), pivot_root=(155, 41), open_tree=(428, 428), fsopen=(430, 430))


def call(name, *words):
    """Makes a system call. Raises OSError if it fails."""
    number = NUMBERS[name][IS_ARM] if isinstance(name, str) else name
    words = [word.encode() if isinstance(word, str) else word for word in words]
    ctypes.set_errno(0)
    result = LIBC.syscall(ctypes.c_long(number), *[
        ctypes.c_char_p(word) if isinstance(word, (bytes, type(None))) else ctypes.c_long(word) for word in words])
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def in_child(body):
    """Returns what `body` returns in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try: result = body()
        except OSError: result = None
        os.write(writer, ("" if result in (None, []) else str(result)).encode())
        os._exit(0)
    os.close(writer)
    text = os.fdopen(reader).read()
    os.waitpid(child, 0)
    return text or None


def connect(family, kind, address):
    with socket.socket(family, kind) as made:
        made.settimeout(5)
        made.connect(address)
        return f"connected to {address}"


CASES = []
def case(function):
    CASES.append(function)
    return function


@case
def daemon_socket(): return connect(socket.AF_UNIX, socket.SOCK_STREAM, PLACES["socket"])
@case
def daemon_socket_through_proc(): return connect(socket.AF_UNIX, socket.SOCK_STREAM, "/proc/1/root" + PLACES["socket"])
@case
def abstract_socket(): return connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + PLACES["abstract"])
@case
def datagram_socket():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.connect(PLACES["datagram"])
    return one.send(b"hello")
@case
def datagram_socket_as_raw():
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
    return one.sendto(b"hello", PLACES["datagram"])
@case
def daemon_socket_of_other_calls():
    if IS_ARM: return None
    # x32's number of socket(2).
    return call(0x40000000 + 41, socket.AF_UNIX, socket.SOCK_STREAM, 0)
@case
def rings(): return call("io_uring_setup", 8, bytes(120))

@case
def vault_is_listed(): return os.listdir(VAULT)
@case
def vault_is_read():
    return [open(f"{VAULT}/{name}", "rb").read(1) for name in ("device-secret", "keybag")]
@case
def vault_through_proc(): return os.listdir("/proc/1/root" + VAULT) or os.listdir("/proc/self/root" + VAULT)
@case
def vault_is_written(): return open(VAULT + "/planted", "w")
@case
def vault_is_opened(): os.chmod(VAULT, 0o755); return os.listdir(VAULT)
@case
def vault_is_moved(): return os.rename(VAULT, VAULT + "-moved") or "moved"
@case
def vault_is_covered(): return call("mount", "none", VAULT, "tmpfs", 0, None)
@case
def vault_is_uncovered(): return call("umount2", VAULT, 2) or os.listdir(VAULT)
@case
def mounts_of_handles(): return call("open_tree", -100, "/", 1)
@case
def mounts_of_file_systems(): return call("fsopen", "tmpfs", 0)
@case
def other_root(): return call("chroot", "/tmp")
@case
def handles(): return call("open_by_handle_at", -100, bytes(64), 0)

@case
def processes_are_listed():
    names = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try: names.append(open(f"/proc/{entry}/comm").read().strip())
        # Processes of others end meanwhile.
        except (FileNotFoundError, ProcessLookupError): continue
    return [name for name in names if name.startswith("keychain")]
@case
def environments_are_read(): return [open(f"/proc/{number}/environ", "rb").read(10) for number in PROCESSES]
@case
def memory_is_mapped(): return [open(f"/proc/{number}/maps").read(10) for number in PROCESSES]
@case
def memory_is_read():
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("QQ", ctypes.addressof(buffer), 8)
    return [call("process_vm_readv", number, local, 1, local, 1, 0) for number in PROCESSES]
@case
def names_of_processes(): return [call("pidfd_open", number, 0) for number in PROCESSES]
@case
def processes_are_traced(): return in_child(lambda: [call("ptrace", 0x4206, number, 0, 0) for number in PROCESSES])
@case
def processes_get_signals(): return [os.kill(number, 0) or number for number in PROCESSES]
@case
def first_process_is_unfiltered():
    status = dict(line.split(":\t", 1) for line in open("/proc/1/status") if ":\t" in line)
    return None if status["Seccomp"].strip() == "2" and status["NoNewPrivs"].strip() == "1" else status

@case
def raw_socket(): return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
@case
def packet_socket(): return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
@case
def host_socket(): return socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
@case
def host_loopback(): return connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", PLACES["tcp"]))
@case
def outside(): return connect(socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80))
@case
def outside_in_packets():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made: return made.sendto(b"hello", ("192.0.2.1", 53))
@case
def interfaces(): return [name for _, name in socket.if_nameindex() if name != "lo"]

@case
def namespace_of_users(): return in_child(lambda: call("unshare", 0x10000000) or "unshared")
@case
def namespace_of_mounts(): return in_child(lambda: call("unshare", 0x00020000) or "unshared")
@case
def namespace_of_others():
    def enter():
        for number in PROCESSES:
            if call("setns", os.open(f"/proc/{number}/ns/mnt", os.O_RDONLY), 0) == 0: return "entered"
    return in_child(enter)
@case
def rights():
    status = dict(line.split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
    held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(status[name], 16)]
    return held or (None if status["NoNewPrivs"].strip() == "1" else "raises privileges")
@case
def descriptors():
    mine = os.open(".", os.O_RDONLY)
    return [os.readlink(f"/proc/self/fd/{number}") for number in range(3, 64) if number != mine
            and os.path.exists(f"/proc/self/fd/{number}")]
@case
def keys_of_the_session(): return call("keyctl", 0, -3, 0)
@case
def programs_for_the_kernel(): return call("bpf", 0, bytes(120), 120)

@case
def settings_of_the_kernel():
    # As root, these files are of the same user. Opening them changes nothing.
    opened = []
    for top in ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/sys/kernel", "/sys/fs", "/sys/module", "/sys/power"):
        names = [f"{folder}/{name}" for folder, _, names in os.walk(top) for name in names]
        for name in names or [top]:
            try: os.close(os.open(name, os.O_WRONLY | os.O_NONBLOCK))
            except OSError: continue
            opened.append(name)
    return opened
@case
def devices(): return [name for name in os.listdir("/dev") if name in ("mem", "kmem", "kvm", "fuse", "tpm0", "vsock", "vda")]
@case
def files_of_others(): return open(PLACES["secret"]).read()
@case
def files_outside(): return open(PLACES["outside"], "r+").read(1)

for attempt in CASES:
    try: got = attempt()
    except OSError as error: got = None
    # A system call that succeeds may return 0.
    print(attempt.__name__, "nothing" if got in (None, []) else f"GOT {got!r}", flush=True)
# All that this process may end, and not those outside.
if "ONLY_LOOKING" not in os.environ: os.kill(-1, signal.SIGTERM)
print(len(CASES), "cases")
