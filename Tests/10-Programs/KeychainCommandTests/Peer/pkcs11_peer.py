"""A program that loads the PKCS #11 module and uses it well and badly.

    pkcs11_peer.py LIBRARY misuse | fuzz COUNT SEED | threads COUNT SECONDS | processes COUNT SECONDS | forks COUNT |
        family COUNT | sessions COUNT | restarts COUNT | waits SECONDS | greedy PROCESSES THREADS SECONDS

A key pair labelled "web" on P-256 has to be in the keychain. What is wrong ends it with a message and a status.
"""
import ctypes, hashlib, os, random, signal, socket, sys, threading, time, traceback
from ctypes import POINTER, byref, c_char_p, c_ulong, c_void_p

NAMES = """Initialize Finalize GetInfo GetFunctionList GetSlotList GetSlotInfo GetTokenInfo GetMechanismList
GetMechanismInfo InitToken InitPIN SetPIN OpenSession CloseSession CloseAllSessions GetSessionInfo GetOperationState
SetOperationState Login Logout CreateObject CopyObject DestroyObject GetObjectSize GetAttributeValue SetAttributeValue
FindObjectsInit FindObjects FindObjectsFinal EncryptInit Encrypt EncryptUpdate EncryptFinal DecryptInit Decrypt
DecryptUpdate DecryptFinal DigestInit Digest DigestUpdate DigestKey DigestFinal SignInit Sign SignUpdate SignFinal
SignRecoverInit SignRecover VerifyInit Verify VerifyUpdate VerifyFinal VerifyRecoverInit VerifyRecover
DigestEncryptUpdate DecryptDigestUpdate SignEncryptUpdate DecryptVerifyUpdate GenerateKey GenerateKeyPair WrapKey
UnwrapKey DeriveKey SeedRandom GenerateRandom GetFunctionStatus CancelFunction WaitForSlotEvent
GetInterfaceList GetInterface LoginUser SessionCancel MessageEncryptInit EncryptMessage EncryptMessageBegin
EncryptMessageNext MessageEncryptFinal MessageDecryptInit DecryptMessage DecryptMessageBegin DecryptMessageNext
MessageDecryptFinal MessageSignInit SignMessage SignMessageBegin SignMessageNext MessageSignFinal MessageVerifyInit
VerifyMessage VerifyMessageBegin VerifyMessageNext MessageVerifyFinal EncapsulateKey DecapsulateKey
VerifySignatureInit VerifySignature VerifySignatureUpdate VerifySignatureFinal GetSessionValidationFlags AsyncComplete
AsyncGetID AsyncJoin WrapKeyAuthenticated UnwrapKeyAuthenticated""".split()
OK, SLOT, ARGUMENTS, UNSUPPORTED, KEY, MECHANISM, OBJECT = 0, 3, 7, 0x54, 0x60, 0x70, 0x82
ACTIVE, NOT_BEGUN, SESSION, INVALID, SHORT, NOT_INITIALIZED, ALREADY = 0x90, 0x91, 0xB3, 0xC0, 0x150, 0x190, 0x191
ECDSA, ECDSA_SHA256, SHA256 = 0x1041, 0x1044, 0x250


class Attribute(ctypes.Structure):
    _fields_ = [("type", c_ulong), ("value", c_void_p), ("length", c_ulong)]


class Mechanism(ctypes.Structure):
    _fields_ = [("type", c_ulong), ("parameter", c_void_p), ("length", c_ulong)]


class Interface(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("functions", c_void_p), ("flags", c_ulong)]


library = ctypes.CDLL(sys.argv[1])
interface = POINTER(Interface)()
assert library.C_GetInterface(None, None, byref(interface), c_ulong(0)) == OK
table = interface.contents.functions
addresses = (c_void_p * len(NAMES)).from_address(table + 8)
assert all(addresses), "a function is missing in the table"
F = {name: ctypes.CFUNCTYPE(c_ulong)(address) for name, address in zip(NAMES, addresses)}


def call(name, *arguments):
    """Calls a function; numbers go as CK_ULONG."""
    return F[name](*[c_ulong(a) if isinstance(a, int) else a for a in arguments])


def expect(code, name, *arguments):
    got = call(name, *arguments)
    assert got == code, f"C_{name}{arguments}: {got:#x} and not {code:#x}"


def attributes(*pairs):
    array = (Attribute * len(pairs))()
    array.kept = []
    for entry, (kind, value) in zip(array, pairs):
        data = ctypes.create_string_buffer(value, len(value))
        array.kept.append(data)
        entry.type, entry.value, entry.length = kind, ctypes.addressof(data), len(value)
    return array


def number(value): return value.to_bytes(8, sys.byteorder)


def open_session(flags=6):
    session = c_ulong()
    expect(OK, "OpenSession", 0, flags, None, None, byref(session))
    return session.value


def find(session, kind, label=b"web"):
    template = attributes((0, number(kind)), (3, label))
    expect(OK, "FindObjectsInit", session, template, 2)
    found, count = (c_ulong * 2)(), c_ulong()
    expect(OK, "FindObjects", session, found, 2, byref(count))
    expect(OK, "FindObjectsFinal", session)
    assert count.value == 1, f"{count.value} objects of class {kind} are called {label}"
    return found[0]


def sign(session, key, digest):
    signature, count = ctypes.create_string_buffer(64), c_ulong(64)
    expect(OK, "SignInit", session, byref(Mechanism(ECDSA, None, 0)), key)
    expect(OK, "Sign", session, digest, len(digest), signature, byref(count))
    assert count.value == 64
    return signature


def verify(session, key, digest, signature, code=OK):
    expect(OK, "VerifyInit", session, byref(Mechanism(ECDSA, None, 0)), key)
    expect(code, "Verify", session, digest, len(digest), signature, 64)


def descriptors(): return len(os.listdir("/proc/self/fd"))


def memory():
    with open("/proc/self/statm") as file: return int(file.read().split()[1]) * 4096


def misuse():
    null = [None] * 12
    # Before C_Initialize, and after C_Finalize.
    outside = {"Initialize", "GetFunctionList", "GetInterfaceList", "GetInterface"}
    for _ in range(2):
        for name in NAMES:
            if name not in outside: expect(NOT_INITIALIZED, name, *null)
        expect(OK, "Initialize", None)
        expect(ALREADY, "Initialize", None)
        expect(OK, "Finalize", None)
    for name in ["GetFunctionList", "GetInterface"]: expect(ARGUMENTS, name, *null)
    expect(ARGUMENTS, "GetInterfaceList", None, None)
    expect(OK, "Initialize", None)
    expect(ARGUMENTS, "Finalize", c_void_p(1))
    # Of every function that is about a session: one that is not there, with nothing else.
    slots = {"Finalize", "GetInfo", "GetSlotList", "GetSlotInfo", "GetTokenInfo", "GetMechanismList", "GetMechanismInfo",
             "InitToken", "OpenSession", "CloseAllSessions", "WaitForSlotEvent"} | outside
    for name in NAMES:
        if name not in slots: expect(SESSION, name, 77, *null)
    for name in ["GetSlotInfo", "GetTokenInfo", "GetMechanismList", "GetMechanismInfo", "CloseAllSessions"]:
        expect(SLOT, name, 5, *null)
    for name in ["GetInfo", "GetSlotInfo", "GetTokenInfo", "GetMechanismList", "GetMechanismInfo", "GetSlotList"]:
        expect(ARGUMENTS, name, *null)
    session = open_session()
    # Every function with a session and nothing else: it fails, or there is nothing to do.
    allowed = {"CloseSession", "GetFunctionStatus", "CancelFunction"}
    for name in NAMES:
        if name in slots | allowed: continue
        code = call(name, session, *null)
        assert code in {OK, ARGUMENTS, UNSUPPORTED, NOT_BEGUN, KEY, OBJECT, 0x101, 0x103, 0x120}, f"C_{name}: {code:#x}"
    private, public = find(session, 3), find(session, 2)
    digest = hashlib.sha256(b"x").digest()
    expect(NOT_BEGUN, "Sign", session, digest, 32, None, None)
    expect(KEY, "SignInit", session, byref(Mechanism(ECDSA, None, 0)), 999)
    expect(MECHANISM, "SignInit", session, byref(Mechanism(0x80001234, None, 0)), private)
    expect(0x63, "SignInit", session, byref(Mechanism(ECDSA, None, 0)), public)
    # The length, a room that is too small, and then the signature.
    count = c_ulong(0)
    expect(OK, "SignInit", session, byref(Mechanism(ECDSA, None, 0)), private)
    expect(ACTIVE, "SignInit", session, byref(Mechanism(ECDSA, None, 0)), private)
    expect(OK, "Sign", session, digest, 32, None, byref(count))
    assert count.value == 64
    count.value = 63
    expect(SHORT, "Sign", session, digest, 32, ctypes.create_string_buffer(63), byref(count))
    signature = ctypes.create_string_buffer(64)
    expect(OK, "Sign", session, digest, 32, signature, byref(count))
    expect(NOT_BEGUN, "Sign", session, digest, 32, signature, byref(count))
    verify(session, public, digest, signature)
    verify(session, public, hashlib.sha256(b"y").digest(), signature, INVALID)
    expect(OK, "VerifyInit", session, byref(Mechanism(ECDSA, None, 0)), public)
    expect(0xC1, "Verify", session, digest, 32, signature, 63)
    # In parts, and a digest the same way.
    expect(OK, "SignInit", session, byref(Mechanism(ECDSA_SHA256, None, 0)), private)
    for part in [b"he", b"", b"llo"]: expect(OK, "SignUpdate", session, part, len(part))
    expect(OK, "SignFinal", session, signature, byref(count))
    verify(session, public, hashlib.sha256(b"hello").digest(), signature)
    expect(OK, "DigestInit", session, byref(Mechanism(SHA256, None, 0)))
    for part in [b"he", b"llo"]: expect(OK, "DigestUpdate", session, part, len(part))
    expect(ACTIVE, "Digest", session, b"x", 1, signature, byref(count))
    expect(OK, "DigestInit", session, byref(Mechanism(SHA256, None, 0)))
    count.value = 64
    expect(OK, "Digest", session, b"hello", 5, signature, byref(count))
    assert signature.raw[:32] == hashlib.sha256(b"hello").digest() and count.value == 32
    # Attributes: unknown, secret, too large for the room; the others are answered all the same.
    small, room = ctypes.create_string_buffer(1), ctypes.create_string_buffer(64)
    asked = (Attribute * 4)(
        (0x9999, ctypes.addressof(room), 64), (0x11, ctypes.addressof(room), 64), (3, ctypes.addressof(small), 1),
        (3, ctypes.addressof(room), 64))
    expect(SHORT, "GetAttributeValue", session, private, asked, 4)
    assert [a.length for a in asked] == [2**64 - 1] * 3 + [3] and room.raw[:3] == b"web"
    expect(0x11, "GetAttributeValue", session, private, (Attribute * 1)((0x11, None, 0)), 1)
    expect(OBJECT, "GetAttributeValue", session, 999, asked, 1)
    for template in [Attribute(3, None, 5), Attribute(3, None, 2**63)]:
        assert call("FindObjectsInit", session, byref(template), 1) in {ARGUMENTS, 0x13}
    expect(ARGUMENTS, "FindObjectsInit", session, None, 1)
    expect(0xB4, "OpenSession", 0, 2, None, None, byref(count))
    expect(OK, "CloseSession", session)
    expect(SESSION, "CloseSession", session)
    expect(OK, "Finalize", None)


def fuzz(count, seed):
    chance = random.Random(seed)
    expect(OK, "Initialize", None)
    room = ctypes.create_string_buffer(8192)
    handles = [open_session()]
    objects = [find(handles[0], 3), find(handles[0], 2), 0, 1, 2, 3, 77, 2**64 - 1]
    mechanisms = [0, 1, 3, 6, 9, 0xD, 0x40, 0x43, 0x220, 0x250, 0x1041, 0x1044, 0x1050, 0x1057, 0x80000000]
    # What makes or deletes keys is left out: the keychain would fill up.
    names = [name for name in NAMES if name not in {"GenerateKeyPair", "CreateObject", "DestroyObject", "Finalize"}]

    def anything():
        kind = chance.randrange(9)
        if kind == 0: return None
        if kind == 1: return chance.choice(handles)
        if kind == 2: return chance.choice(objects)
        if kind == 3: return chance.choice([0, 1, 2, 16, 20, 32, 48, 63, 64, 65, 256, 4096])
        if kind == 4: return chance.choice([0, 1, 2**31, 2**32, 2**63, 2**64 - 1])
        if kind == 5: return byref(Mechanism(chance.choice(mechanisms), ctypes.addressof(room), chance.randrange(0, 64)))
        if kind == 6: return byref(c_ulong(chance.choice([0, 1, 32, 64, 256, 4096])))
        return room

    done = 0
    while done < count:
        name = chance.choice(names)
        arguments = [anything() for _ in range(9)]
        if chance.random() < 0.8: arguments[0] = chance.choice(handles)
        # A pointer must be to so many bytes as the number after it says, and a number must not be taken for a pointer.
        arguments = shaped(name, arguments, room, chance)
        if arguments is None: continue
        for index in range(0, 256, 8): room[index] = chance.randrange(256)
        call(name, *arguments)
        done += 1
        if chance.random() < 0.01:
            session = c_ulong()
            if call("OpenSession", 0, 6, None, None, byref(session)) == OK: handles.append(session.value)
            if len(handles) > 20: call("CloseSession", handles.pop(0))
    expect(OK, "Finalize", None)
    print("calls", done)


# What the functions take, one letter each: s session, o object, u number, m mechanism, b bytes and their number, r room
# and a pointer to its size, a attributes and their number, p a pointer to a number, v a pointer to anything.
SHAPES = dict(
    Initialize="n", GetInfo="v", GetFunctionList="v", GetSlotList="uvp", GetSlotInfo="uv", GetTokenInfo="uv",
    GetMechanismList="uvp", GetMechanismInfo="uuv", InitToken="ubv", InitPIN="sb", SetPIN="sbb", OpenSession="uunnp",
    CloseSession="x", CloseAllSessions="x", GetSessionInfo="sv", GetOperationState="sr", SetOperationState="sboo",
    Login="sub", Logout="s", CopyObject="soap", GetObjectSize="sop", GetAttributeValue="soa", SetAttributeValue="soa",
    FindObjectsInit="sa", FindObjects="svcp", FindObjectsFinal="s", EncryptInit="smo", Encrypt="sbr", EncryptUpdate="sbr",
    EncryptFinal="sr", DecryptInit="smo", Decrypt="sbr", DecryptUpdate="sbr", DecryptFinal="sr", DigestInit="sm",
    Digest="sbr", DigestUpdate="sb", DigestKey="so", DigestFinal="sr", SignInit="smo", Sign="sbr", SignUpdate="sb",
    SignFinal="sr", SignRecoverInit="smo", SignRecover="sbr", VerifyInit="smo", Verify="sbb", VerifyUpdate="sb",
    VerifyFinal="sb", VerifyRecoverInit="smo", VerifyRecover="sbr", GenerateKey="smap", WrapKey="smoor",
    UnwrapKey="smobap", DeriveKey="smoap", SeedRandom="sb", GenerateRandom="sb", GetFunctionStatus="s",
    CancelFunction="s", SessionCancel="su", EncapsulateKey="smoarp", DecapsulateKey="smoabp", VerifySignature="sb")


def shaped(name, loose, room, chance):
    shape = SHAPES.get(name)
    if shape is None or shape == "x" or name == "Initialize": return None
    arguments = []
    for letter in shape:
        if letter == "s": arguments.append(loose[0] if isinstance(loose[0], int) else 1)
        elif letter in "ou": arguments.append(next((a for a in loose[1:] if isinstance(a, int)), 0))
        elif letter == "n": arguments.append(None)
        elif letter == "c": arguments.append(chance.randrange(64))
        elif letter == "m":
            arguments.append(next((a for a in loose if hasattr(a, "_obj") and isinstance(a._obj, Mechanism)), None))
        elif letter == "p": arguments.append(chance.choice([None, byref(c_ulong(chance.choice([0, 1, 64, 4096])))]))
        elif letter == "v": arguments.append(chance.choice([None, room, room]))
        elif letter == "b":
            isNull = chance.random() < 0.1
            arguments += [None, chance.choice([0, 1, 2**63])] if isNull else [room, chance.choice([0, 1, 32, 64, 256])]
        elif letter == "r":
            arguments += [chance.choice([None, room]), chance.choice([None] + 4 * [byref(c_ulong(4096)), byref(c_ulong(7))])]
        elif letter == "a":
            count = chance.randrange(4)
            array = attributes(*[(chance.choice([0, 1, 3, 0x11, 0x100, 0x102, 0x161, 0x180, 0x9999]),
                                  bytes(chance.randrange(0, 12))) for _ in range(count)])
            arguments += chance.choice([[array, count], [None, count]])
    return arguments


def threads(count, seconds):
    expect(OK, "Initialize", None)
    first = open_session()
    private, public = find(first, 3), find(first, 2)
    sign(first, private, bytes(32))
    failures, done = [], [0] * count
    end = time.monotonic() + seconds

    def work(number):
        try:
            session = open_session()
            while time.monotonic() < end:
                digest = os.urandom(32)
                verify(session, public, digest, sign(session, private, digest))
                done[number] += 1
            expect(OK, "CloseSession", session)
        except BaseException as error: failures.append(error)

    before = memory(), descriptors()
    workers = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    assert not failures, failures[0]
    assert min(done) > 0, done
    after = memory(), descriptors()
    assert after[0] - before[0] < 64 << 20 and after[1] - before[1] < 32, (before, after)
    print("signatures", sum(done))


def start(work, *arguments):
    """Does the work in a child, which says why it failed, and returns the child's number."""
    child = os.fork()
    if child != 0: return child
    status = 1
    try:
        work(*arguments)
        status = 0
    except BaseException: traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def processes(count, seconds):
    """Children that use one key at once; what each of them has at the end is that of its beginning."""
    expect(OK, "Initialize", None)
    session = open_session()
    private, public = find(session, 3), find(session, 2)
    sign(session, private, bytes(32))

    def child():
        done, before = 0, None
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            digest = os.urandom(32)
            verify(session, public, digest, sign(session, private, digest))
            done += 1
            if done == 10: before = memory(), descriptors()
        after = memory(), descriptors()
        assert done > 10 and after[0] - before[0] < 16 << 20 and after[1] == before[1], (done, before, after)
        print("signatures", done, flush=True)

    for child in [start(child) for _ in range(count)]: assert os.waitpid(child, 0)[1] == 0, "a child failed"


def forks(count):
    expect(OK, "Initialize", None)
    session = open_session()
    private, public = find(session, 3), find(session, 2)
    sign(session, private, bytes(32))

    def child(number):
        digest = os.urandom(32)
        # Half of the children are new to the library, as version 2.40 has it.
        if number % 2:
            expect(OK, "Initialize", None)
            own = open_session()
            verify(own, find(own, 2), digest, sign(own, find(own, 3), digest))
        else: verify(session, public, digest, sign(session, private, digest))

    for number in range(count):
        assert os.waitpid(start(child, number), 0)[1] == 0, f"child {number} failed"
        digest = os.urandom(32)
        verify(session, public, digest, sign(session, private, digest))
    print("forks", count)


def helpers():
    """The helpers that serve this program's user in this place."""
    place, found = os.environ["XDG_RUNTIME_DIR"].encode(), []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file: words = file.read().split(b"\0")
        except OSError: continue
        if words[1:2] == [b"pkcs11-helper"] and any(word.startswith(place) for word in words): found.append(int(name))
    return found


def family(count):
    """Children share the helper of their parent, beyond its end; a new one is started for one that was killed."""
    expect(OK, "Initialize", None)
    session = open_session()
    private, public = find(session, 3), find(session, 2)
    sign(session, private, bytes(32))
    done, parent = os.pipe(), os.pipe()

    def child(number):
        digest = os.urandom(32)
        if number % 2: expect(OK, "Initialize", None)
        own = open_session()
        verify(own, find(own, 2), digest, sign(own, find(own, 3), digest))
        os.write(done[1], b".")
        os.close(parent[1])
        # The parent has ended.
        os.read(parent[0], 1)
        sign(own, find(own, 3), digest)
        print("orphan", len(helpers()), flush=True)

    for number in range(count): start(child, number)
    for _ in range(count): assert os.read(done[0], 1) == b".", "a child failed"
    found = helpers()
    print("children", count, "helpers", len(found), flush=True)
    os._exit(0)


def bereaved():
    expect(OK, "Initialize", None)
    session = open_session()
    private = find(session, 3)
    sign(session, private, bytes(32))
    first, = helpers()
    path, = (f"{entry.path}/socket" for entry in os.scandir(os.environ["XDG_RUNTIME_DIR"]))
    os.kill(first, signal.SIGKILL)

    # The words of a killed process are gone before its socket is closed.
    def is_open():
        with socket.socket(socket.AF_UNIX) as connection: return connection.connect_ex(path) == 0

    while is_open(): time.sleep(0.01)

    def child():
        sign(session, private, bytes(32))
        second, = helpers()
        assert second != first

    assert os.waitpid(start(child), 0)[1] == 0, "the child failed"


def waits(seconds):
    """Prints how long signatures take, in microseconds: the median, the 99th percentile, the longest, their number."""
    expect(OK, "Initialize", None)
    session = open_session()
    private, public = find(session, 3), find(session, 2)
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        digest = os.urandom(32)
        begin = time.monotonic()
        signature = sign(session, private, digest)
        times.append(time.monotonic() - begin)
        verify(session, public, digest, signature)
    times.sort()
    print(*(round(1e6 * t) for t in (times[len(times) // 2], times[len(times) * 99 // 100], times[-1])), len(times))


def greedy(count, workers, seconds):
    """Takes what it can get: all sessions of a process, and a connection for each thread of each process. Calls may
    fail."""
    for _ in range(count - 1):
        if os.fork() == 0: break
    expect(OK, "Initialize", None)
    session = c_ulong()
    opened, digest = 0, bytes(32)
    while call("OpenSession", 0, 6, None, None, byref(session)) == OK: opened += 1
    print("sessions", opened, flush=True)
    end = time.monotonic() + seconds
    done, refused, kind = [0] * workers, [0] * workers, number(3)

    def work(index):
        own, found, some = session.value - index, (c_ulong * 2)(), c_ulong()
        signature, count = ctypes.create_string_buffer(64), c_ulong(64)
        while time.monotonic() < end:
            code = call("FindObjectsInit", own, attributes((0, kind)), 1)
            if code == OK:
                call("FindObjects", own, found, 2, byref(some))
                call("FindObjectsFinal", own)
                code = call("SignInit", own, byref(Mechanism(ECDSA, None, 0)), found[0])
            if code == OK: code = call("Sign", own, digest, 32, signature, byref(count))
            if code == OK: done[index] += 1
            else: refused[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(workers)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print("greedy", sum(done), "refused", sum(refused), flush=True)


def sessions(count):
    expect(OK, "Initialize", None)
    opened = [open_session() for _ in range(count // 100)]
    for session in opened: expect(OK, "CloseSession", session)
    before = memory(), descriptors()
    opened = [open_session(4) for _ in range(count)]
    assert len(set(opened)) == count
    sign(opened[-1], find(opened[0], 3), bytes(32))
    expect(OK, "CloseAllSessions", 0)
    for _ in range(count): expect(OK, "CloseSession", open_session())
    after = memory(), descriptors()
    assert after[0] - before[0] < 32 << 20 and after[1] == before[1], (before, after)
    print("sessions", count)


def pipes():
    for number in os.listdir("/proc/self/fd"):
        try: name = os.readlink(f"/proc/self/fd/{number}")
        except OSError: continue
        if name.startswith("pipe:"): yield int(number)


def restarts(count):
    """A program that ends the library and begins anew has one helper, and none after C_Finalize."""
    before = descriptors()
    for _ in range(count):
        expect(OK, "Initialize", None)
        session = open_session()
        sign(session, find(session, 3), bytes(32))
        expect(OK, "Finalize", None)
        assert descriptors() == before, (descriptors(), before)
    # A pipe that the program has closed itself: what it has by the same number stays open.
    earlier = set(pipes())
    expect(OK, "Initialize", None)
    open_session()
    [number] = set(pipes()) - earlier
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, number)
    expect(OK, "Finalize", None)
    os.fstat(number)
    end = time.monotonic() + 60
    while helpers() and time.monotonic() < end: time.sleep(0.1)
    assert not helpers(), helpers()
    print("restarts", count)


if __name__ == "__main__": globals()[sys.argv[2]](*map(int, sys.argv[3:]))
