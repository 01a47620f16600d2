"""What a program or a stranger may say to the broker's port for PostgreSQL, and what a server may say to the broker.

    postgres_attack.py fuzz PORT COUNT SEED     random bytes and damaged log-ins
    postgres_attack.py serve FOLDER             a server that breaks off, lies and sends random bytes; prints its port
    postgres_attack.py strangers PORT COUNT     connections that say nothing; prints how many are open
    postgres_attack.py login PORT USER DATABASE PASSWORD [NAME=VALUE…]  prints what came of a log-in
"""
import os, random, socket, ssl, struct, sys, threading, time


def message(kind, body): return kind + struct.pack("!I", len(body) + 4) + body


def startup(code, body): return struct.pack("!II", len(body) + 8, code) + body


def parameters(pairs): return b"".join(one.encode() + b"\0" for pair in pairs for one in pair) + b"\0"


def receive(connection, count):
    bytes = b""
    while len(bytes) < count:
        piece = connection.recv(count - len(bytes))
        if not piece: raise EOFError
        bytes += piece
    return bytes


def take(connection):
    kind = receive(connection, 1)
    return kind, receive(connection, struct.unpack("!I", receive(connection, 4))[0] - 4)


def fields(body): return {part[:1]: part[1:].decode() for part in body.split(b"\0") if part}


def log_in(port, user, database, password, more=(), code=196608):
    with socket.create_connection(("127.0.0.1", port), 120) as connection:
        connection.sendall(startup(code, parameters([("user", user), ("database", database), *more])))
        seen = []
        while True:
            kind, body = take(connection)
            if kind == b"E": return f"{fields(body)[b'C']} {fields(body)[b'M']}"
            if kind == b"R" and body == struct.pack("!I", 3): connection.sendall(message(b"p", password.encode() + b"\0"))
            elif kind == b"v": seen.append("version")
            elif kind == b"Z": return " ".join(seen + ["in"])


def fuzz(port, count, seed):
    source = random.Random(seed)
    whole = startup(196608, parameters([("user", "app"), ("database", "shop")]))
    for _ in range(count):
        given = source.choice([
            source.randbytes(source.randrange(200)), struct.pack("!I", source.randrange(2 ** 32)) + source.randbytes(20),
            startup(80877103, b"") * source.randrange(1, 9), startup(80877102, source.randbytes(source.randrange(300))),
            startup(196608 + source.randrange(4), source.randbytes(source.randrange(300))), whole])
        given = bytearray(given)
        for _ in range(source.randrange(3)):
            if given: given[source.randrange(len(given))] = source.randrange(256)
        given += source.choice([b"", message(b"p", source.randbytes(source.randrange(300))), source.randbytes(99)])
        try:
            with socket.create_connection(("127.0.0.1", port), 60) as connection:
                connection.sendall(given)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536): pass
        except ConnectionError: pass


def serve(folder):
    """Each connection gets the next lie; its number is in FOLDER/lies."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder + "/server.pem")
    context.set_alpn_protocols(["postgresql"])
    ok = message(b"R", struct.pack("!I", 0))
    sasl = message(b"R", struct.pack("!I", 10) + b"SCRAM-SHA-256\0\0")
    ready = message(b"S", b"a\0b\0") + message(b"Z", b"I")

    def challenge(own, text):
        def say(connection):
            connection.sendall(sasl)
            _, body = take(connection)
            nonce = body.split(b"r=")[1].decode()
            connection.sendall(message(b"R", struct.pack("!I", 11) + text.replace("NONCE", nonce).encode()))
            if not own: return
            take(connection)
            connection.sendall(message(b"R", struct.pack("!I", 12) + b"v=" + b"A" * 43 + b"=") + ok + ready)
        return say

    def early(connection):
        connection.sendall(sasl)
        take(connection)
        connection.sendall(ok + ready)

    def repeats(connection):
        challenge(False, f"r=NONCEmore,{salt},i=4096")(connection)
        _, final = take(connection)
        with open(folder + "/proofs", "a") as file: file.write(final.split(b",p=")[1].decode() + "\n")
        connection.sendall(message(b"E", b"SFATAL\0C28P01\0Mno " + final + b" " + final.hex().encode() + b"\0\0"))

    def notices(connection):
        while True: connection.sendall(message(b"N", b"") * 20_000)

    salt = "s=QUFBQUFBQUFBQUFBQUFBQQ=="
    lies = {
        "lets in everybody": lambda c: c.sendall(ok + ready),
        "asks for the password": lambda c: c.sendall(message(b"R", struct.pack("!I", 3))),
        "asks for md5": lambda c: c.sendall(message(b"R", struct.pack("!I", 5) + b"salt")),
        "asks for GSSAPI": lambda c: c.sendall(message(b"R", struct.pack("!I", 7))),
        "lets in before SCRAM is over": early,
        "proves nothing": challenge(True, f"r=NONCEmore,{salt},i=4096"),
        "has the nonce of the client": challenge(False, f"r=NONCE,{salt},i=4096"),
        "has another nonce": challenge(False, f"r=other,{salt},i=4096"),
        "wants one iteration": challenge(False, f"r=NONCEmore,{salt},i=1"),
        "wants many iterations": challenge(False, f"r=NONCEmore,{salt},i=4000000000"),
        "has an extension": challenge(False, f"m=x,r=NONCEmore,{salt},i=4096"),
        "has no salt": challenge(False, "r=NONCEmore,s=,i=4096"),
        "is ready at once": lambda c: c.sendall(ready),
        "says much": lambda c: c.sendall(message(b"N", b"x" * 60000) * 3 + b"N" + b"\xff" * 4),
        "has a long message": lambda c: c.sendall(b"S" + struct.pack("!I", 2 ** 31) + b"x" * 300000),
        "repeats the proof": repeats,
        "says nothing without end": notices,
        "ends": lambda c: None,
    }
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    source, names = random.Random(1), list(lies)
    for number in range(10 ** 9):
        connection, _ = listener.accept()
        connection.settimeout(60)
        name = names[number] if number < len(names) else None
        with open(folder + "/lies", "a") as file: file.write(f"{name or 'random'}\n")
        try:
            receive(connection, 8)
            if number == len(names):
                connection.sendall(b"N")
            elif number == len(names) + 1:
                connection.sendall(b"S" + ok + ready)
                connection.recv(1)
            elif number == len(names) + 2:
                connection.sendall(source.randbytes(2000))
            else:
                connection.sendall(b"S")
                connection = context.wrap_socket(connection, server_side=True)
                receive(connection, struct.unpack("!I", receive(connection, 4))[0] - 4)
                if name: lies[name](connection)
                else: connection.sendall(source.choice([b"", sasl, ok]) + source.choice(
                    [source.randbytes(50), message(bytes([source.choice(b"RSKZENvC")]), source.randbytes(30))]))
            connection.close()
        except (OSError, EOFError): pass


def strangers(port, count):
    connections = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port), 60)
        connection.sendall(startup(80877103, b""))
        connections.append(connection)
    begin, closed = time.monotonic(), 0
    for connection in connections:
        connection.settimeout(60)
        try:
            while connection.recv(100): pass
        except ConnectionError: pass
        closed += 1
    print(closed, "closed", "late" if time.monotonic() - begin > 8 else "early")


if __name__ == "__main__":
    words = sys.argv[2:]
    if sys.argv[1] == "fuzz": fuzz(*map(int, words))
    elif sys.argv[1] == "serve": serve(*words)
    elif sys.argv[1] == "strangers": strangers(*map(int, words))
    else:
        print(log_in(int(words[0]), *words[1:4], [tuple(one.split("=", 1)) for one in words[4:] if "=" in one],
                     196610 if "3.2" in words else 196608))
