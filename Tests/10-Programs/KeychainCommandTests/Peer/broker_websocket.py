"""Speaks with a WebSocket that echoes: `broker_websocket.py HOST:PORT PATH`. It prints what it got back, and takes the
proxy, its password and the authority from the environment, as websocket-client does.

The secret must stand in nothing that it gets: that of the file `secret`.

With the further word `raw` it sends requests that no client sends, and prints the first line of each answer.
"""
import base64, json, os, socket as sockets, ssl, sys, urllib.parse, websocket

host, path = sys.argv[1:3]
token = os.environ["TOKEN"]
secret = open("secret").read()


def connect(**more):
    return websocket.create_connection(
        f"wss://{host}{path}", header=[f"Authorization: Bearer {token}"], timeout=60,
        sslopt={"ca_certs": os.environ["SSL_CERT_FILE"]}, **more)


def raw(first, frames=b""):
    """Asks for a WebSocket with frames right behind the request."""
    proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
    plain = sockets.create_connection((proxy.hostname, proxy.port), timeout=30)
    password = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    plain.sendall(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\nProxy-Authorization: Basic {password}\r\n\r\n".encode())
    while b"\r\n\r\n" not in plain.recv(65536): pass
    context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
    with context.wrap_socket(plain, server_hostname=host.split(":")[0]) as secure:
        secure.sendall(f"{first}\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                       f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                       f"Authorization: Bearer {token}\r\n\r\n".encode() + frames)
        answer = secure.recv(65536)
        if frames:
            while b"\r\n\r\n" not in answer or len(answer.split(b"\r\n\r\n", 1)[1]) < 2: answer += secure.recv(65536)
            print(answer.split(b"\r\n\r\n", 1)[1][:1].hex(), end=" ")
        print("THE SECRET" if secret.encode() in answer else answer.split(b"\r\n")[0].decode())


if sys.argv[3:] == ["raw"]:
    ping, text, long = b"\x89\x80abcd", b"\x81\x81abcd" + bytes([ord("x") ^ ord("a")]), b"\x82\xff\x3f" + b"\xff" * 7 + b"abcd"
    for frames in [b"", ping, text, ping + text, long]: raw(f"GET {path} HTTP/1.1", frames)
    raw(f"POST {path} HTTP/1.1")
    raw(f"GET {path} HTTP/1.0")
    raw("GET /gzip HTTP/1.1")
    raw(f"GET {path} HTTP/1.1")
    sys.exit()


def shown(data):
    if isinstance(data, str): data = data.encode()
    if secret.encode() in data: return "THE SECRET"
    return data.decode("latin-1").replace(token, "the placeholder").replace("*" * len(secret), "a mask")


try: socket = connect(subprotocols=["chat"])
except websocket.WebSocketBadStatusException as error:
    print("refused with", error.status_code)
    sys.exit()
print("protocol", socket.getsubprotocol())
for text in ["hello", token, json.dumps({"op": 2, "token": token}), f"beside {token}"]:
    socket.send(text)
    code, data = socket.recv_data(control_frame=True)
    if code == websocket.ABNF.OPCODE_CLOSE:
        print("closed", int.from_bytes(data[:2], "big"), data[2:].decode())
        sys.exit()
    print(shown(data))
socket.send_binary(bytes(range(256)) * 4)
print("binary", socket.recv() == bytes(range(256)) * 4)
big = "x" * (3 << 20)
socket.send(big)
print("big", socket.recv() == big)
# A message in pieces, with a ping between.
for number, (piece, code) in enumerate([("a-", websocket.ABNF.OPCODE_TEXT), ("b-", websocket.ABNF.OPCODE_CONT),
                                        ("c", websocket.ABNF.OPCODE_CONT)]):
    socket.send_frame(websocket.ABNF(1 if number == 2 else 0, 0, 0, 0, code, 1, piece.encode()))
    if number == 1: socket.ping("still here?")
while True:
    code, data = socket.recv_data(control_frame=True)
    print({1: "text", 10: "pong"}.get(code, code), data.decode())
    if code == 1: break
socket.send_close(1000)
code, data = socket.recv_data(control_frame=True)
print("closed", int.from_bytes(data[:2], "big"))
