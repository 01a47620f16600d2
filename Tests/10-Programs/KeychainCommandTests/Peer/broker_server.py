"""A server of HTTP/1.1, HTTP/2 and WebSocket for requests that come through `keychain run --broker`.

    broker_server.py FOLDER [http/1.1]

It makes an authority, FOLDER/authority.pem, and a certificate for api.example.test, other.example.test,
*.wild.example.test, s3.example.test, bucket.s3.example.test and 127.0.0.1. It prints its ports as one line of JSON:
`tls` speaks HTTP/2 where python3-h2 is there and `http/1.1` was not said, `other` speaks HTTP/1.1 over TLS, and `plain`
is clear text. It ends with its input.

Each request is a line of FOLDER/requests.jsonl before its answer begins, and each frame of a WebSocket one of
FOLDER/frames.jsonl. SECRET in the environment is the password of `alice`.

`Resources` has what is served, a method for each first part of a path. All else is like /echo.
"""
import base64, datetime, gzip, hashlib, ipaddress, json, os, queue, random, re, resource, select, socket, ssl, struct
import subprocess, sys, threading, time, urllib.parse, zlib
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

try: import h2.config, h2.connection, h2.errors, h2.events, h2.exceptions, h2.settings
except ImportError: h2 = None

NAMES = ["api.example.test", "other.example.test", "*.wild.example.test", "s3.example.test",
         "bucket.s3.example.test"]
LONGEST_HEAD = 4 << 20
LONGEST_RECORD = 64 << 10
LONGEST_KEPT = 32 << 20
PIECE = 64 << 10


class Gone(Exception):
    """The client is not there any more, or has said what no server understands."""


# Certificates

def make_certificates(folder):
    """Writes authority.pem and server.pem, which has the key, too."""
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    day = datetime.timedelta(days=1)

    def name(text): return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def usage(**used):
        names = ["digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
                 "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"]
        return x509.KeyUsage(**{one: used.get(one, False) for one in names})

    def builder(subject, key):
        return (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name("authority of the test"))
                .public_key(key.public_key()).serial_number(x509.random_serial_number())
                .not_valid_before(now - day).not_valid_after(now + 30 * day)
                .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
                .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root.public_key()), False))

    root, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = (builder("authority of the test", root)
                 .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
                 .add_extension(usage(key_cert_sign=True, crl_sign=True), True).sign(root, hashes.SHA256()))
    others = [x509.DNSName(one) for one in NAMES] + [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    server = (builder("server of the test", key)
              .add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
              .add_extension(usage(digital_signature=True), True)
              .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
              .add_extension(x509.SubjectAlternativeName(others), False).sign(root, hashes.SHA256()))
    pem = serialization.Encoding.PEM
    with open(folder + "/authority.pem", "wb") as file: file.write(authority.public_bytes(pem))
    with open(folder + "/server.pem", "wb") as file:
        file.write(server.public_bytes(pem) + key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


def make_repository(path):
    """A repository with one commit that those who log in may push to."""
    if os.path.exists(path): return
    environment = git_environment()

    def git(*words, text=b""):
        subprocess.run(["git", *words], input=text, check=True, env=environment, stdout=subprocess.DEVNULL)

    git("init", "--quiet", "--bare", "--initial-branch=main", path)
    git("-C", path, "config", "http.receivepack", "true")
    git("-C", path, "fast-import", "--quiet", text=b"commit refs/heads/main\ncommitter Alice <alice@example.test> "
        b"1700000000 +0000\ndata 6\nFirst\nM 644 inline readme.txt\ndata 6\nHello\n\n")


def git_environment():
    path = os.environ.get("PATH", "/usr/bin:/bin")
    return {"PATH": path, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


# Records

class Records:
    def __init__(self, path):
        self.lock = threading.Lock()
        self.file = open(path, "a")

    def add(self, **members):
        line = json.dumps(members) + "\n"
        with self.lock:
            self.file.write(line)
            self.file.flush()


class Request:
    """What came, without its body. `pieces` is the body; it raises `Gone` if it is cut off."""

    def __init__(self, port, version, method, target, headers, sni, pieces):
        self.port, self.version, self.method, self.target = port, version, method, target
        self.headers, self.sni, self.pieces = headers, sni, pieces
        self.body, self.length, self.digest, self.is_whole = bytearray(), 0, hashlib.sha256(), False
        rest = target.split("://", 1)[1] if "://" in target.split("?")[0] else None
        local = target if rest is None else "/" + rest.partition("/")[2]
        self.path, _, query = local.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))

    def header(self, name, default=""):
        return next((value for one, value in self.headers if one.lower() == name), default)

    def read(self):
        for piece in self.pieces:
            self.length += len(piece)
            self.digest.update(piece)
            if len(self.body) < LONGEST_KEPT: self.body += piece[:LONGEST_KEPT - len(self.body)]
        self.is_whole = True

    def record(self):
        requests.add(
            port=self.port, version=self.version, method=self.method, target=self.target,
            host=self.header("host", self.header(":authority")), headers=self.headers,
            body=self.body[:LONGEST_RECORD].decode("latin-1"), length=self.length, whole=self.is_whole, sni=self.sni)

    @property
    def value(self):
        """What the client says to be let in, in bytes."""
        given = self.header("authorization") or self.header("x-api-key")
        return given.encode("latin-1") or bytes(self.body)

    def is_alice(self):
        wanted = b"alice:" + os.environ.get("SECRET", "").encode()
        scheme, _, pair = self.header("authorization").partition(" ")
        return scheme.lower() == "basic" and pair.strip() == base64.b64encode(wanted).decode()


def text(data):
    try: return bytes(data).decode()
    except UnicodeDecodeError: return bytes(data).decode("latin-1")


# What is answered

class Resources:
    """A method for each path, with the request and what writes its answer."""

    def echo(self, request, answer):
        """The request as JSON."""
        answer.whole(200, self.description(request), "application/json")

    @staticmethod
    def description(request):
        # As a server does that believes its clients.
        headers = [[name, text(value.encode("latin-1"))] for name, value in request.headers]
        return json.dumps({"method": request.method, "target": request.target, "headers": headers,
                           "body": text(request.body)}).encode() + b"\n"

    def headers(self, request, answer):
        """Each header of the request as a header X-Echo-NAME."""
        answer.whole(200, b"see the headers\n", headers=[
            ("X-Echo-" + name, value) for name, value in request.headers if not name.startswith(":")])

    def bytes(self, request, answer):
        """The echo, each byte on its own."""
        answer.begin(200, [("Content-Type", "application/json")])
        for byte in self.description(request): answer.write(bytes([byte]))
        answer.end()

    def chunks(self, request, answer):
        """The echo in pieces of 1 to 16 bytes, by `seed`."""
        generator = random.Random(request.query.get("seed", "1"))
        answer.begin(200, [("Content-Type", "application/json")])
        rest = self.description(request)
        while rest:
            count = generator.randrange(1, 17)
            answer.write(rest[:count])
            rest = rest[count:]
        answer.end()

    def gzip(self, request, answer): self.packed(request, answer, "gzip", gzip.compress)
    def deflate(self, request, answer): self.packed(request, answer, "deflate", zlib.compress)
    def br_claimed(self, request, answer): self.packed(request, answer, "br", lambda _: bytes(range(256)))

    def packed(self, request, answer, coding, pack):
        """The echo, with `?name=` as the name of its coding."""
        name = request.query.get("name", coding)
        answer.whole(200, pack(self.description(request)), "application/json", [("Content-Encoding", name)])

    def base64(self, request, answer):
        """The value of Authorization, X-Api-Key or the body in Base64, with 0, 1 and 2 bytes before it."""
        lines = [encode(b"~" * count + request.value + b"~" * end) for encode in (
            base64.b64encode, base64.urlsafe_b64encode) for count in range(3) for end in (0, 1)]
        answer.whole(200, b"\n".join(lines) + b"\n")

    def percent(self, request, answer):
        """It in percent signs: RFC 3986, in lower case, as a form, and as JavaScript's encodeURIComponent."""
        strict = urllib.parse.quote(request.value, safe="")
        lower = re.sub("%..", lambda one: one[0].lower(), strict)
        lines = [strict, lower, urllib.parse.quote_plus(request.value), urllib.parse.quote(request.value, safe="!'()*")]
        answer.whole(200, "\n".join(lines).encode() + b"\n")

    def json(self, request, answer):
        """It in JSON: as ASCII, as UTF-8, with escaped slashes, and as Go and web frameworks escape it."""
        plain = json.dumps(text(request.value))
        web = plain
        for one in "<>&'": web = web.replace(one, "\\u%04x" % ord(one))
        lines = [plain, json.dumps(text(request.value), ensure_ascii=False), plain.replace("/", "\\/"), web]
        answer.whole(200, ("[" + ",\n".join(lines) + "]\n").encode(), "application/json")

    def hex(self, request, answer):
        """It in digits of 16, small and capital."""
        answer.whole(200, (request.value.hex() + "\n" + request.value.hex().upper() + "\n").encode())

    def redirect(self, request, answer):
        answer.whole(int(request.query.get("status", "302")), b"", headers=[("Location", request.query.get("to", "/"))])

    def sse(self, request, answer):
        """Five events, 50 ms apart."""
        answer.begin(200, [("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache")])
        for number in range(5):
            if number: time.sleep(0.05)
            answer.write(b"id: %d\ndata: %s\n\n" % (number, request.value))
        answer.end()

    def big(self, request, answer): self.many(request, answer, int(request.query.get("size", "1000000")))
    def bigchunked(self, request, answer): self.many(request, answer, None)

    def many(self, request, answer, length):
        """`size` bytes of a pattern."""
        rest = int(request.query.get("size", "1000000"))
        answer.begin(200, [("Content-Type", "application/octet-stream")], length)
        pattern = b"0123456789abcde\n" * (PIECE // 16)
        while rest > 0:
            answer.write(pattern[:rest])
            rest -= len(pattern)
        answer.end()

    def upload(self, request, answer):
        """The sum and length of the body, of which no part is kept."""
        found = {"sha256": request.digest.hexdigest(), "length": request.length}
        answer.whole(200, json.dumps(found).encode() + b"\n", "application/json")

    def basic(self, request, answer):
        """Lets alice in."""
        if request.is_alice(): return answer.whole(200, b"alice is in\n")
        answer.whole(401, b"log in\n", headers=[("WWW-Authenticate", 'Basic realm="broker"')])

    def early(self, request, answer):
        """Answers before it reads the body, of which nothing is recorded."""
        answer.begin(200, [("Content-Type", "text/plain")], 6)
        answer.write(b"early\n")
        request.read()
        answer.end()

    def hang(self, request, answer): answer.wait()

    def cut(self, request, answer):
        """Half of what it announced, and the end."""
        answer.begin(200, [], 1_000)
        answer.write(b"x" * 500)
        answer.cut()

    def twolengths(self, request, answer):
        answer.begin(200, [("Content-Length", "5"), ("Content-Length", "6")], is_framed=False)
        answer.write(b"123456")
        answer.cut()

    def raw(self, request, answer):
        """The body of the request, byte for byte, is the answer, and the connection ends. Only in HTTP/1.1."""
        answer.send(bytes(request.body))
        answer.is_begun = answer.is_last = True

    def verbatim(self, request, answer):
        """The body of the request, as JSON."""
        answer.whole(200, bytes(request.body), "application/json")

    def token(self, request, answer):
        """As a server of OAuth 2."""
        answer.whole(200, json.dumps({
            "access_token": "issued-access-token-0123456789", "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": "issued-refresh-token-0123456789", "scope": "read"}).encode() + b"\n", "application/json")

    def ws(self, request, answer):
        """A WebSocket that sends back what it gets. Only in HTTP/1.1."""
        key = request.header("sec-websocket-key")
        if request.header("upgrade").lower() != "websocket" or not key:
            return answer.whole(426, b"a WebSocket\n", headers=[("Upgrade", "websocket")])
        digest = hashlib.sha1(key.encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        protocols = request.header("sec-websocket-protocol").split(",")[0].strip()
        head = [("Upgrade", "websocket"), ("Connection", "Upgrade"),
                ("Sec-WebSocket-Accept", base64.b64encode(digest).decode())]
        answer.begin(101, head + ([("Sec-WebSocket-Protocol", protocols)] if protocols else []), is_framed=False)
        echo_frames(answer)
        answer.is_last = True

    def git(self, request, answer):
        """A repository at /git/repo.git, for alice."""
        if not request.is_alice(): return self.basic(request, answer)
        environment = dict(git_environment(), GIT_PROJECT_ROOT=folder + "/git", GIT_HTTP_EXPORT_ALL="1",
                           REQUEST_METHOD=request.method, PATH_INFO=request.path[4:], REMOTE_USER="alice",
                           REMOTE_ADDR="127.0.0.1", QUERY_STRING=request.target.partition("?")[2],
                           CONTENT_TYPE=request.header("content-type"), CONTENT_LENGTH=str(len(request.body)),
                           HTTP_CONTENT_ENCODING=request.header("content-encoding"),
                           GIT_PROTOCOL=request.header("git-protocol"))
        run = subprocess.run(
            ["git", "http-backend"], input=bytes(request.body), stdout=subprocess.PIPE, env=environment)
        head, _, body = run.stdout.partition(b"\r\n\r\n")
        headers = [line.partition(": ")[::2] for line in head.decode("latin-1").split("\r\n") if line]
        status = next((value for name, value in headers if name.lower() == "status"), "200 OK")
        answer.whole(int(status.split()[0]), body, None, [one for one in headers if one[0].lower() != "status"])

    def answer(self, request, answer):
        """Reads the request, notes it and answers it."""
        word = request.path[1:].split("/")[0].replace("-", "_")
        method = getattr(self, word, None) if word in SERVED else None
        if word != "early":
            try: request.read()
            except Gone:
                request.record()
                raise
        request.record()
        try: (method or self.echo)(request, answer)
        except ValueError: raise Gone from None


SERVED = {"echo", "headers", "bytes", "chunks", "gzip", "deflate", "br_claimed", "base64", "percent", "json", "hex",
          "redirect", "sse", "big", "bigchunked", "upload", "basic", "early", "hang", "cut", "twolengths", "raw",
          "token", "verbatim", "ws", "git"}
resources = Resources()


def echo_frames(answer):
    """RFC 6455, 5."""
    def send(first, data):
        count = len(data)
        size = bytes([count]) if count < 126 else struct.pack("!BH" if count < 65_536 else "!BQ",
                                                              126 if count < 65_536 else 127, count)
        answer.send(bytes([first]) + size + data)

    while True:
        first, second = answer.receive(2)
        count = second & 127
        if count == 126: count, = struct.unpack("!H", answer.receive(2))
        elif count == 127: count, = struct.unpack("!Q", answer.receive(8))
        if not second & 128 or count > LONGEST_KEPT:
            return send(0x88, struct.pack("!H", 1002 if count <= LONGEST_KEPT else 1009))
        mask = answer.receive(4)
        data = answer.receive(count)
        whole = int.from_bytes(data, "big") ^ int.from_bytes((mask * (count // 4 + 1))[:count], "big")
        data = whole.to_bytes(count, "big")
        frames.add(opcode=first & 15, fin=bool(first & 128), payload=data[:LONGEST_RECORD].decode("latin-1"),
                   length=count)
        if first & 15 == 9: send(0x8A, data)
        elif first & 15 == 8: return send(0x88, data[:2])
        elif first & 15 != 10: send(first, data)


# HTTP/1.1

class PlainAnswer:
    """Writes an answer of HTTP/1.1."""

    def __init__(self, connection, request, is_last):
        self.connection, self.request, self.is_last = connection, request, is_last
        self.is_chunked, self.is_begun, self.is_ended = False, False, False

    def send(self, data): self.connection.sendall(data)

    def receive(self, count):
        data = self.connection.reader.read(count)
        if len(data) < count: raise Gone
        return data

    def begin(self, status, headers, length=None, is_framed=True):
        self.is_begun = True
        headers = list(headers)
        if is_framed and status not in (204, 304):
            self.is_chunked = length is None and self.request.version == "HTTP/1.1"
            if self.is_chunked: headers.append(("Transfer-Encoding", "chunked"))
            elif length is not None: headers.append(("Content-Length", str(length)))
            else: self.is_last = True
        if self.is_last: headers.append(("Connection", "close"))
        lines = [f"HTTP/1.1 {status} Status"] + [f"{name}: {value}" for name, value in headers]
        self.send("".join(line + "\r\n" for line in lines + [""]).encode("latin-1"))

    def write(self, data):
        if self.request.method == "HEAD": return
        self.send(b"%x\r\n%s\r\n" % (len(data), data) if self.is_chunked else data)

    def end(self):
        if self.is_chunked and not self.is_ended and self.request.method != "HEAD": self.send(b"0\r\n\r\n")
        self.is_ended = True

    def whole(self, status, body, kind="text/plain", headers=()):
        self.begin(status, ([("Content-Type", kind)] if kind else []) + list(headers), len(body))
        self.write(body)

    def wait(self):
        while self.connection.reader.read(1): pass
        raise Gone

    def cut(self): raise Gone


class PlainConnection:
    """A connection with HTTP/1.1."""

    def __init__(self, port, connection):
        self.port, self.connection = port, connection
        self.reader = connection.makefile("rb", PIECE)
        self.sendall = connection.sendall
        self.sni = getattr(connection, "name", None)

    def serve(self):
        while self.one(): pass
        if isinstance(self.connection, ssl.SSLSocket):
            # It says that this is the end. The client need not say so, too.
            self.connection.settimeout(0.2)
            self.connection.unwrap()

    def line(self):
        line = self.reader.readline(LONGEST_HEAD)
        if not line.endswith(b"\n"): raise Gone
        return line[:-2] if line.endswith(b"\r\n") else line[:-1]

    def one(self):
        """Answers a request.

        Returns whether another one may follow.
        """
        first = self.reader.readline(LONGEST_HEAD)
        if not first: return False
        words = first.decode("latin-1").rstrip("\r\n").split(" ")
        method, target, version = (words + ["", "", ""])[:3]
        headers, is_sound = [], first.endswith(b"\n") and len(words) == 3 and version in ("HTTP/1.1", "HTTP/1.0")
        while line := self.line():
            name, colon, value = line.decode("latin-1").partition(":")
            is_sound &= bool(colon) and name == name.strip() and "\r" not in value
            headers.append([name, value.strip(" \t")])
        request = Request(self.port, version, method, target, headers, self.sni, self.pieces(headers))
        last = request.header("connection").lower() == "close" or version != "HTTP/1.1"
        answer = PlainAnswer(self, request, last)
        if not is_sound:
            request.record()
            answer.is_last = True
            answer.whole(400, b"this is no request\n")
            return False
        if request.header("expect").lower() == "100-continue" and request.path != "/early":
            self.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        resources.answer(request, answer)
        if not answer.is_begun: raise Gone
        answer.end()
        return not answer.is_last

    def pieces(self, headers):
        names = {name.lower(): value for name, value in reversed(headers)}
        if "chunked" in names.get("transfer-encoding", "").lower():
            while True:
                try: count = int(self.line().split(b";")[0], 16)
                except ValueError: raise Gone from None
                if count == 0: break
                yield from self.exactly(count)
                if self.line(): raise Gone
            while self.line(): pass
        elif "content-length" in names:
            try: count = int(names["content-length"])
            except ValueError: raise Gone from None
            yield from self.exactly(count)

    def exactly(self, count):
        while count > 0:
            piece = self.reader.read1(min(count, PIECE))
            if not piece: raise Gone
            count -= len(piece)
            yield piece


# HTTP/2

class StreamAnswer:
    """Writes an answer of HTTP/2."""

    def __init__(self, connection, stream, request):
        self.connection, self.stream, self.request = connection, stream, request
        self.is_ended = False

    def begin(self, status, headers, length=None, is_framed=True):
        headers = [(name.lower(), value) for name, value in headers]
        if length is not None: headers.append(("content-length", str(length)))
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        with self.connection.lock:
            self.connection.protocol.send_headers(self.stream, [(b":status", b"%d" % status)] + headers)
            self.connection.flush()

    def write(self, data):
        if self.request.method == "HEAD": return
        connection = self.connection
        while data:
            with connection.lock:
                room = connection.room(self.stream)
                while room <= 0:
                    connection.changed.wait()
                    room = connection.room(self.stream)
                piece, data = data[:room], data[room:]
                connection.protocol.send_data(self.stream, piece)
                connection.flush()

    def end(self):
        if self.is_ended: return
        self.is_ended = True
        with self.connection.lock:
            self.connection.room(self.stream)
            self.connection.protocol.end_stream(self.stream)
            self.connection.flush()

    def whole(self, status, body, kind="text/plain", headers=()):
        self.begin(status, ([("content-type", kind)] if kind else []) + list(headers), len(body))
        self.write(body)
        self.end()

    def wait(self):
        with self.connection.lock:
            while True:
                self.connection.room(self.stream)
                self.connection.changed.wait()

    def cut(self): raise Gone

    def send(self, data): self.whole(501, b"only in HTTP/1.1\n")
    def receive(self, count): self.cut()


class StreamConnection:
    """A connection with HTTP/2: one thread reads, and each stream has its own for its answer."""

    def __init__(self, port, connection):
        self.port, self.connection = port, connection
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.bodies, self.gone, self.is_over = {}, set(), False
        self.protocol = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=False, header_encoding="latin-1", validate_outbound_headers=False,
            normalize_outbound_headers=False))

    def room(self, stream):
        """How much may be sent now."""
        if self.is_over or stream in self.gone: raise Gone
        return min(self.protocol.local_flow_control_window(stream), self.protocol.max_outbound_frame_size)

    def flush(self):
        rest = memoryview(self.protocol.data_to_send())
        while rest:
            try: rest = rest[self.connection.send(rest):]
            except ssl.SSLWantWriteError: self.poll(select.POLLOUT)
            except ssl.SSLWantReadError: self.poll(select.POLLIN)

    def poll(self, kind):
        poll = select.poll()
        poll.register(self.connection.fileno(), kind)
        poll.poll()

    def serve(self):
        self.connection.setblocking(False)
        try:
            with self.lock:
                # In the first frame of settings: AsyncHTTPClient 1.37 asserts, in builds for debugging, that an idle
                # connection gets no second one.
                self.protocol.local_settings = h2.settings.Settings(
                    client=False, initial_values={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 1_000})
                self.protocol.initiate_connection()
                self.flush()
            while True:
                # OpenSSL lets one thread at a time use a connection.
                with self.lock:
                    try: data = self.connection.recv(PIECE)
                    except ssl.SSLWantReadError: data = None
                    if data:
                        for event in self.protocol.receive_data(data): self.take(event)
                        self.flush()
                if data == b"": break
                if data is None: self.poll(select.POLLIN)
        finally:
            with self.lock:
                self.is_over = True
                for body in self.bodies.values(): body.put(Gone)
                self.changed.notify_all()

    def take(self, event):
        stream = getattr(event, "stream_id", None)
        if isinstance(event, h2.events.RequestReceived):
            self.bodies[stream] = queue.Queue()
            threading.Thread(target=self.answer, args=[stream, event.headers], daemon=True).start()
        elif isinstance(event, h2.events.DataReceived):
            if stream in self.bodies: self.bodies[stream].put((event.data, event.flow_controlled_length))
            else: self.acknowledge(event.flow_controlled_length, stream)
        elif isinstance(event, h2.events.StreamEnded):
            if stream in self.bodies: self.bodies[stream].put(None)
        elif isinstance(event, h2.events.StreamReset):
            self.gone.add(stream)
            if stream in self.bodies: self.bodies[stream].put(Gone)
        self.changed.notify_all()

    def pieces(self, stream):
        body = self.bodies[stream]
        while True:
            part = body.get()
            if part is None: return
            if part is Gone: raise Gone
            with self.lock:
                self.acknowledge(part[1], stream)
            yield part[0]

    def acknowledge(self, count, stream):
        if count == 0 or self.is_over: return
        self.protocol.acknowledge_received_data(count, stream)
        self.flush()

    def leave(self, stream, is_cut):
        """Lets go of a stream, and of what it still has of the window of the connection."""
        with self.lock:
            body = self.bodies.pop(stream)
            if is_cut and stream not in self.gone and not self.is_over:
                self.protocol.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
                self.flush()
            while not body.empty():
                part = body.get()
                if part not in (None, Gone): self.acknowledge(part[1], stream)

    def answer(self, stream, headers):
        headers = [[str(name), str(value)] for name, value in headers]
        pseudo = dict(one for one in headers if one[0].startswith(":"))
        request = Request(self.port, "HTTP/2", pseudo.get(":method", ""), pseudo.get(":path", ""), headers,
                          getattr(self.connection, "name", None), self.pieces(stream))
        answer = StreamAnswer(self, stream, request)
        is_cut = True
        try:
            if request.header("expect").lower() == "100-continue" and request.path != "/early":
                with self.lock:
                    self.protocol.send_headers(stream, [(b":status", b"100")])
                    self.flush()
            resources.answer(request, answer)
            answer.end()
            is_cut = False
        except (Gone, OSError, h2.exceptions.ProtocolError): pass
        try: self.leave(stream, is_cut)
        except (OSError, h2.exceptions.ProtocolError): pass


# Connections

def context_for(path, protocols):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    context.set_alpn_protocols(protocols)

    def note(connection, name, _): connection.name = name

    context.sni_callback = note
    return context


def serve(port, context, connection):
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context: connection = context.wrap_socket(connection, server_side=True)
        is_stream = context and connection.selected_alpn_protocol() == "h2"
        (StreamConnection if is_stream else PlainConnection)(port, connection).serve()
    except (Gone, OSError): pass
    except Exception as error:
        if h2 is None or not isinstance(error, h2.exceptions.ProtocolError): raise
    finally:
        # A file of it may still be open.
        try: connection.shutdown(socket.SHUT_RDWR)
        except OSError: pass
        connection.close()


def listen(port, context):
    listener = socket.create_server(("127.0.0.1", 0), backlog=1_024)

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=[port, context, connection], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def main(place, *words):
    global folder, requests, frames
    folder = os.path.abspath(place)
    make_certificates(folder)
    make_repository(folder + "/git/repo.git")
    requests, frames = Records(folder + "/requests.jsonl"), Records(folder + "/frames.jsonl")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    threading.stack_size(1 << 20)
    protocols = ["http/1.1"] if h2 is None or "http/1.1" in words else ["h2", "http/1.1"]
    server = folder + "/server.pem"
    ports = {"tls": listen("tls", context_for(server, protocols)),
             "other": listen("other", context_for(server, ["http/1.1"])), "plain": listen("plain", None)}
    print(json.dumps(ports), flush=True)
    sys.stdin.read()
    # Threads that wait for clients do not end.
    os._exit(0)


if __name__ == "__main__": main(*sys.argv[1:])
