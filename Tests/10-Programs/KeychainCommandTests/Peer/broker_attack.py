"""Attacks on the broker, by the program that it serves.

    broker_attack.py CASE [NUMBER [SEED]]
    broker_attack.py all            every case but `many` and `fuzz`
    broker_attack.py many COUNT     so many tunnels at once, each with a request
    broker_attack.py fuzz COUNT SEED

A case sends what it says with the placeholder from TOKEN, and prints the first line of each answer, or `closed`, or
`silent`. PORTS in the environment is what broker_server.py printed. CREDENTIAL may be another header than
`Authorization: Bearer %s`. With BODIES, the bodies of the answers are printed, too.
"""
import base64, collections, concurrent.futures, functools, json, os, random, resource, socket, ssl, sys, time
import urllib.parse

PORTS = json.loads(os.environ["PORTS"])
TOKEN = os.environ["TOKEN"]
PROXY = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
NAME, OTHER = "api.example.test", "other.example.test"
HERE = f"{NAME}:{PORTS['tls']}"
CREDENTIAL = os.environ.get("CREDENTIAL", "Authorization: Bearer %s") % TOKEN
PASSWORD = "Proxy-Authorization: Basic " + base64.b64encode(
    urllib.parse.unquote(f"{PROXY.username}:{PROXY.password}").encode()).decode()
PATIENCE = 10
LENGTH = "Content-Length: 5"
CHUNKED = "Transfer-Encoding: chunked"
SMUGGLED = f"GET /smuggled HTTP/1.1\r\nHost: {HERE}\r\n{CREDENTIAL}\r\n\r\n"


@functools.cache
def context(protocols, is_checked):
    # To read the system's authorities takes longer than a request.
    made = ssl.create_default_context()
    if not is_checked: made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    made.set_alpn_protocols(list(protocols))
    return made


class Conversation:
    """A connection to the broker."""

    def __init__(self, patience=PATIENCE):
        self.socket = socket.create_connection((PROXY.hostname, PROXY.port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.patience, self.waiting, self.is_open, self.body = patience, b"", True, b""

    def send(self, data):
        # What the broker said before it closed is still read.
        try: self.socket.sendall(data.encode("latin-1") if isinstance(data, str) else data)
        except OSError: pass
        return self

    def more(self):
        self.socket.settimeout(self.patience)
        data = self.socket.recv(65_536)
        if not data: raise EOFError
        self.waiting += data

    def line(self):
        while b"\n" not in self.waiting: self.more()
        line, self.waiting = self.waiting.split(b"\n", 1)
        return line.decode("latin-1").rstrip("\r")

    def exactly(self, count):
        while len(self.waiting) < count: self.more()
        data, self.waiting = self.waiting[:count], self.waiting[count:]
        return data

    def answer(self, is_head=False):
        """Returns the first line of the next answer, or what happened instead."""
        status, self.body = None, b""
        try:
            status, headers = self.line(), {}
            while line := self.line(): headers[line.partition(":")[0].lower()] = line.partition(":")[2].strip()
            code = status.split(" ")[1:2]
            if code == ["100"]: return self.answer(is_head)
            if headers.get("connection", "").lower() == "close": self.is_open = False
            if is_head: return status
            if "chunked" in headers.get("transfer-encoding", ""):
                while count := int(self.line(), 16):
                    self.body += self.exactly(count)
                    self.line()
                self.line()
            else: self.body = self.exactly(int(headers.get("content-length", 0)))
            if "BODIES" in os.environ: status += "\n" + self.body.decode("latin-1")
            return status
        except TimeoutError: return (status + ", and silent") if status else "silent"
        except (EOFError, OSError, ValueError):
            self.is_open = False
            return (status + ", and closed") if status else "closed"

    def connect(self, authority, *headers):
        """Asks for a tunnel, and returns the answer."""
        self.send(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n" + "".join(
            one + "\r\n" for one in headers or [PASSWORD]) + "\r\n")
        return self.answer(is_head=True)

    def secure(self, name, protocols=("http/1.1",), is_checked=True):
        self.socket.settimeout(PATIENCE)
        self.socket = context(tuple(protocols), is_checked).wrap_socket(self.socket, server_hostname=name)
        return self

    def finish_sending(self):
        socket.socket.shutdown(self.socket, socket.SHUT_WR)
        return self

    def close(self): self.socket.close()


def tunnel(port=None, name=NAME, sni=None, patience=PATIENCE, **more):
    conversation = Conversation(max(patience, PATIENCE))
    status = conversation.connect(f"{name}:{port or PORTS['tls']}")
    if " 200" not in status: raise SystemExit(status)
    # A tunnel itself is never refused by silence.
    conversation.patience = patience
    return conversation.secure(sni or name, **more)


def request(target="/echo", *headers, method="GET", host=HERE, body="", credential=CREDENTIAL):
    lines = [f"{method} {target} HTTP/1.1"] + ([f"Host: {host}"] if host else []) + [credential, *headers]
    return "\r\n".join(lines) + "\r\n\r\n" + body


def inside(*words, **more): return tunnel().send(request(*words, **more)).answer()
def post(*headers, body): return inside("/echo", *headers, method="POST", body=body)


def both(*words, body):
    """The answer to a request, and to what may be hidden in it."""
    conversation = tunnel(patience=2).send(request("/echo", *words, method="POST", body=body))
    first = conversation.answer()
    return f"{first}\n{conversation.answer()}" if conversation.is_open else first


def at(authority, name=None):
    """A tunnel to another place, with a request in it."""
    conversation = Conversation()
    status = conversation.connect(authority)
    if " 200" not in status: return status
    try: conversation.secure(name, is_checked=False)
    except (ssl.SSLError, OSError): return "closed"
    return conversation.send(request(host=authority)).answer()


def names(*hosts): return "\n".join(f"{one}: {at(f'{one}:' + str(PORTS['tls']))}" for one in hosts)
def clear(line, *headers): return Conversation().send("\r\n".join([line, *headers, CREDENTIAL]) + "\r\n\r\n").answer()


def pipelined():
    conversation = tunnel().send(
        request("/echo?1") + request("/chunks?2", CHUNKED, method="POST", body="5\r\nhello\r\n0\r\n\r\n")
        + request("/echo?3", "Content-Length: 2", method="POST", body="ok") + request("/echo?4", credential="X: y"))
    return "\n".join(conversation.answer() for _ in range(4))


def slow():
    conversation = tunnel()
    for byte in request().encode():
        conversation.send(bytes([byte]))
        time.sleep(0.005)
    return conversation.answer()


def switched(word):
    """A second request on a connection whose first one was in the clear."""
    conversation = Conversation()
    conversation.send(f"GET http://{NAME}:{PORTS['plain']}/echo HTTP/1.1\r\nHost: {NAME}:{PORTS['plain']}\r\n"
                      f"{PASSWORD}\r\n\r\n")
    first = conversation.answer()
    return f"{first}\n{conversation.send(word).answer()}"


def large(count): return "x" * count


PLAIN = f"http://{NAME}:{PORTS['plain']}/echo"
PLAIN_HOST = f"Host: {NAME}:{PORTS['plain']}"
CASES = {
    "honest": lambda: inside(),
    # Where a request ends.
    "two-lengths": lambda: both(LENGTH, "Content-Length: 6", body="hello" + SMUGGLED),
    "lengths-list": lambda: both("Content-Length: 5, 5", body="hello" + SMUGGLED),
    "length-and-chunked": lambda: both(f"Content-Length: {len(SMUGGLED) + 5}", CHUNKED, body="0\r\n\r\n" + SMUGGLED),
    "chunked-and-length": lambda: both(CHUNKED, LENGTH, body="0\r\n\r\n" + SMUGGLED),
    "chunked-not-last": lambda: both("Transfer-Encoding: chunked, identity", body="0\r\n\r\n" + SMUGGLED),
    "chunked-twice": lambda: both(CHUNKED, CHUNKED, body="0\r\n\r\n" + SMUGGLED),
    "chunked-spaced": lambda: both("Transfer-Encoding : chunked", LENGTH, body="0\r\n\r\n" + SMUGGLED),
    "chunked-unknown": lambda: both("Transfer-Encoding: xchunked", LENGTH, body="0\r\n\r\n" + SMUGGLED),
    "length-signed": lambda: both("Content-Length: +5", body="hello" + SMUGGLED),
    "length-negative": lambda: both("Content-Length: -1", body=SMUGGLED),
    "length-huge": lambda: both("Content-Length: 99999999999999999999999", body=SMUGGLED),
    "chunk-huge": lambda: both(CHUNKED, body="fffffffffffffffff\r\nhello"),
    "chunk-bare-lf": lambda: both(CHUNKED, body="5\nhello\n0\n\n" + SMUGGLED),
    "connection-hides": lambda: both("Connection: close, content-length, authorization, host", LENGTH, body="hello"),
    # What a header is.
    "obs-fold": lambda: inside("/echo", "X-Folded: a\r\n " + CREDENTIAL),
    "bare-cr": lambda: inside("/echo", "X-Return: a\r" + CREDENTIAL),
    "bare-lf": lambda: inside("/echo", "X-Feed: a\n" + CREDENTIAL),
    "lines-by-lf": lambda: tunnel().send(request().replace("\r\n", "\n")).answer(),
    "nul": lambda: inside("/echo", "X-Nul: a\0b"),
    "name-empty": lambda: inside("/echo", ": empty"),
    "name-spaced": lambda: inside("/echo", "X Y: z"),
    "many-headers": lambda: inside("/echo", *[f"X-{number}: y" for number in range(100_000)]),
    "long-header": lambda: inside("/echo", "X-Long: " + large(1 << 20)),
    "long-target": lambda: inside("/" + large(1 << 20)),
    "long-method": lambda: inside(method=large(1 << 20)),
    "long-extension": lambda: post(CHUNKED, body=f"5;{large(1 << 20)}\r\nhello\r\n0\r\n\r\n"),
    "long-trailer": lambda: post(CHUNKED, body=f"5\r\nhello\r\n0\r\nX-Long: {large(1 << 20)}\r\n\r\n"),
    # Which server it is for.
    "host-lies": lambda: inside(host=f"{OTHER}:{PORTS['tls']}"),
    "host-port-lies": lambda: inside(host=f"{NAME}:{PORTS['other']}"),
    "two-hosts": lambda: inside("/echo", f"Host: {OTHER}:{PORTS['tls']}"),
    "no-host": lambda: inside(host=None),
    "host-user": lambda: inside(host=f"{HERE}@{OTHER}"),
    "host-dot": lambda: inside(host=f"{NAME}.:{PORTS['tls']}"),
    "absolute": lambda: inside(f"https://{HERE}/echo"),
    "absolute-other": lambda: inside(f"https://{OTHER}:{PORTS['tls']}/echo"),
    "target-no-slash": lambda: inside(f"@{OTHER}/"),
    "target-port": lambda: inside("0/echo"),
    "target-star": lambda: inside("*", method="OPTIONS"),
    "target-fragment": lambda: inside("/echo#/x"),
    "target-letters": lambda: inside("/\xe4\xf6"),
    "sni-lies": lambda: tunnel(sni=OTHER, is_checked=False).send(request()).answer(),
    "connect-inside": lambda: inside(f"{OTHER}:{PORTS['tls']}", PASSWORD, method="CONNECT"),
    "connect-loopback": lambda: names("127.0.0.1"),
    "connect-ipv6": lambda: names("[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[::]", "[64:ff9b::7f00:1]"),
    "connect-spelled": lambda: names("localhost", "127.1", "2130706433", "0x7f000001", "017700000001", "0.0.0.0", "0"),
    "connect-link": lambda: "\n".join(f"{one}: {at(one)}" for one in ["169.254.169.254:80", "[fe80::1]:80"]),
    "connect-other": lambda: names(OTHER),
    "connect-unrelated": lambda: names(f"x{NAME}", f"{NAME}.x", f"a.{NAME}", "*.wild.example.test"),
    "connect-port": lambda: at(f"{NAME}:{PORTS['other']}", NAME),
    "connect-plain-port": lambda: at(f"{NAME}:{PORTS['plain']}", NAME),
    "connect-self": lambda: at(f"{PROXY.hostname}:{PROXY.port}"),
    "connect-odd": lambda: "\n".join(f"{one}: {at(one)}" for one in [
        NAME, f"{NAME}:", f"{NAME}:0", f"{NAME}:65536", f"{NAME}:+{PORTS['tls']}", f"a@{HERE}", f"https://{HERE}",
        f"{HERE}/echo", f"{NAME}:443:{PORTS['tls']}", "[::1", ":443", "*:443"]),
    # Whose it is.
    "no-password": lambda: Conversation().connect(HERE, "X: y"),
    "wrong-password": lambda: Conversation().connect(
        HERE, "Proxy-Authorization: Basic " + base64.b64encode(b"keychain:wrong").decode()),
    "long-password": lambda: Conversation().connect(HERE, PASSWORD + "A"),
    "two-passwords": lambda: Conversation().connect(HERE, PASSWORD, PASSWORD),
    "clear-no-password": lambda: clear(f"GET {PLAIN} HTTP/1.1", PLAIN_HOST),
    "clear-then-no-password": lambda: switched(f"GET {PLAIN} HTTP/1.1\r\n{PLAIN_HOST}\r\n{CREDENTIAL}\r\n\r\n"),
    # Without TLS.
    "clear": lambda: clear(f"GET {PLAIN} HTTP/1.1", PLAIN_HOST, PASSWORD),
    "clear-to-tls": lambda: clear(f"GET http://{HERE}/echo HTTP/1.1", f"Host: {HERE}", PASSWORD),
    "clear-https": lambda: clear(f"GET https://{HERE}/echo HTTP/1.1", f"Host: {HERE}", PASSWORD),
    "clear-host-lies": lambda: clear(f"GET {PLAIN} HTTP/1.1", f"Host: {OTHER}:{PORTS['plain']}", PASSWORD),
    "clear-loopback": lambda: clear(
        f"GET http://127.0.0.1:{PORTS['plain']}/echo HTTP/1.1", f"Host: 127.0.0.1:{PORTS['plain']}", PASSWORD),
    "clear-path": lambda: clear("GET /echo HTTP/1.1", PLAIN_HOST, PASSWORD),
    "clear-star": lambda: clear(
        f"GET http://*.wild.example.test:{PORTS['plain']}/ HTTP/1.1", f"Host: *.wild.example.test:{PORTS['plain']}",
        PASSWORD),
    "clear-then-connect": lambda: switched(f"CONNECT {HERE} HTTP/1.1\r\nHost: {HERE}\r\n{PASSWORD}\r\n\r\n"),
    # Paths, for a rule with /allowed/*.
    "paths": lambda: "\n".join(f"{path}: {inside(path)}" for path in [
        "/allowed/x", "/allowed", "/secret", "/allowed/../secret", "/allowed/./x", "/allowed/%2e%2e/secret",
        "/allowed/.%2E/secret", "/allowed/..;/secret", "//allowed/", "//allowed/../secret", "/allowed//x",
        "/allowed%2f..%2fsecret", "/allowed/..%5csecret", "/allowed/..\\secret", "/allowed/%252e%252e/secret",
        "/allowed/..%00/secret", "/allowed/..?/../secret", "/Allowed/x", "/allowed/%zz", "/%61llowed/x",
        "/secret?/allowed/", "/allowed/..#/"]),
    # When it comes.
    "pipelined": pipelined,
    "slow": slow,
    "stalled": lambda: tunnel(patience=2).send(request()[:-2]).answer(),
    "half-closed": lambda: tunnel().send(request()).finish_sending().answer(),
    "half-closed-clear": lambda: Conversation().send(
        f"GET {PLAIN} HTTP/1.1\r\n{PLAIN_HOST}\r\n{PASSWORD}\r\n\r\n").finish_sending().answer(),
    "half-closed-connect": lambda: Conversation().send(
        f"CONNECT {HERE} HTTP/1.1\r\nHost: {HERE}\r\n{PASSWORD}\r\n\r\n").finish_sending().answer(is_head=True),
    "half-body": lambda: tunnel(patience=2).send(
        request("/echo", "Content-Length: 10", method="POST", body="hello")).finish_sending().answer(),
    "preface": lambda: tunnel(patience=2).send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").answer(),
    "http-1.0": lambda: tunnel().send(request().replace("HTTP/1.1", "HTTP/1.0")).answer(),
    "http-0.9": lambda: tunnel(patience=2).send("GET /echo\r\n").answer(),
    "http-2.0": lambda: tunnel(patience=2).send(request().replace("HTTP/1.1", "HTTP/2.0")).answer(),
}


def many(count):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    conversations = [tunnel().send(request(f"/echo?{number}")) for number in range(count)]
    found = [one.answer() for one in conversations]
    return f"{count} tunnels, {sum(' 200' in one for one in found)} answered"


# Fuzzing

PIECES = [b"\r\n", b"\n", b"\r", b"\0", b"\r\n\r\n", b" ", b"\t", b":", b"%", b"/", b"..", b"\xff", b"0", b"-1",
          b"99999999999999999999", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n", b"Host: a\r\n",
          b"Upgrade: websocket\r\n", b"Expect: 100-continue\r\n", b"Connection: close\r\n", b"HTTP/1.0", b"0\r\n\r\n",
          b"\r\n folded", TOKEN.encode(), f"https://{OTHER}".encode(), b"@", b"?", b"#", b"*", b";", b"\"", b"{", b"&"]


def samples():
    """Requests in a tunnel, and requests to the proxy."""
    form, kind = f"a=1&token={TOKEN}", "Content-Type: application/x-www-form-urlencoded"
    text = json.dumps({"token": TOKEN})
    within = [
        request(), request("/chunks?seed=7", "Accept: */*", "Cookie: a=b"), request(f"/x/{TOKEN}?key={TOKEN}&b=c"),
        request("/echo", kind, f"Content-Length: {len(form)}", method="POST", body=form),
        request("/json", "Content-Type: application/json", f"Content-Length: {len(text)}", method="PUT", body=text),
        request("/upload", CHUNKED, method="POST", body="5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX: y\r\n\r\n"),
        request("/headers", "Accept-Encoding: gzip", credential="Authorization: Basic " + base64.b64encode(
            f"alice:{TOKEN}".encode()).decode()),
        request("/gzip", "Range: bytes=0-9", "Accept-Encoding: gzip, br"), request("/cut"),
        request() + request("/big?size=1000") + request("/base64"), request(method="HEAD"),
        request("/early", "Expect: 100-continue", LENGTH, method="POST", body="hello"),
    ]
    before = [
        f"CONNECT {HERE} HTTP/1.1\r\nHost: {HERE}\r\n{PASSWORD}\r\n\r\n",
        f"CONNECT {HERE} HTTP/1.1\r\nHost: {HERE}\r\n{PASSWORD}\r\n\r\n\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03",
        f"GET {PLAIN}?a=b HTTP/1.1\r\n{PLAIN_HOST}\r\n{PASSWORD}\r\n{CREDENTIAL}\r\n\r\n",
        f"POST {PLAIN} HTTP/1.1\r\n{PLAIN_HOST}\r\n{PASSWORD}\r\n{LENGTH}\r\n{CREDENTIAL}\r\n\r\nhello",
    ]
    return [one.encode("latin-1") for one in within], [one.encode("latin-1") for one in before]


def mutated(generator, data):
    for _ in range(generator.choice([0, 1, 1, 1, 2, 3, 8])):
        start = generator.randrange(len(data) + 1)
        end = min(len(data), start + generator.choice([1, 1, 2, 8, 40]))
        kind = generator.randrange(7)
        if kind == 0: data = data[:start] + bytes([generator.randrange(256)]) + data[start + 1:]
        elif kind == 1: data = data[:start] + data[end:]
        elif kind == 2: data = data[:start] + data[start:end] * generator.choice([2, 2, 3, 200]) + data[end:]
        elif kind == 3: data = data[:start] + generator.randbytes(generator.randrange(1, 20)) + data[start:]
        elif kind == 4:
            place = generator.randrange(len(data) + 1)
            data = data[:place] + data[start:end] + data[place:]
        else: data = data[:start] + generator.choice(PIECES) + data[start:]
    return data


def is_served():
    """Whether an honest request is answered. A server that does not like a random one ends the connection of HTTP/2, and
    with it others that are under way there: so it is tried three times."""
    # Patience for a busy machine.
    return any(" 200" in tunnel(patience=60).send(request()).answer() for _ in range(3))


def try_some(count, seed):
    """Sends so many requests, one after the other, and returns how often each answer came."""
    generator = random.Random(seed)
    within, before = samples()
    # For each kind, the connection that survived.
    open_ones, found = {}, collections.Counter()
    for number in range(count):
        is_within = generator.random() < 0.75
        data = mutated(generator, generator.choice(within if is_within else before))
        conversation = open_ones.pop(is_within, None)
        found["reused"] += conversation is not None
        if conversation is None: conversation = tunnel(patience=0.3) if is_within else Conversation(patience=0.3)
        answer = conversation.send(data).answer(is_head=data.startswith((b"HEAD ", b"CONNECT ")))
        words = answer.split("\n")[0].split(" ")
        is_status = len(words) > 1 and words[0] == "HTTP/1.1"
        kind = words[1] if is_status else answer if answer in ("closed", "silent") else "odd"
        found[kind] += 1
        if conversation.is_open and kind.isdigit() and not data.startswith(b"CONNECT "):
            open_ones[is_within] = conversation
        else: conversation.close()
        if number % 50 == 49 and not is_served(): found["failed"] += 1
    for one in open_ones.values(): one.close()
    return found


def fuzz(count, seed):
    # Most of the time passes in waiting for an answer that does not come.
    threads = min(48, -(-count // 100))
    shares = [(count * (one + 1) // threads - count * one // threads, seed + one) for one in range(threads)]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        found = sum(pool.map(lambda share: try_some(*share), shares), collections.Counter())
    reused, failures = found.pop("reused", 0), found.pop("failed", 0)
    kinds = ", ".join(f"{kind}: {number}" for kind, number in sorted(found.items()))
    print(f"{found.total()} requests, {reused} on a used connection; {kinds}; {failures} honest ones failed")
    raise SystemExit(failures > 0)


def main(case, *numbers):
    if case == "fuzz": fuzz(*map(int, numbers))
    elif case == "many": print(many(*map(int, numbers)))
    else:
        for one in CASES if case == "all" else [case]:
            try: answer = CASES[one]()
            except SystemExit as refusal: answer = f"CONNECT: {refusal}"
            except (OSError, EOFError) as error: answer = f"closed ({error!r})"
            print("\n".join(f"{one}: {line}" for line in answer.split("\n")) if case == "all" else answer, flush=True)


if __name__ == "__main__": main(*sys.argv[1:])
