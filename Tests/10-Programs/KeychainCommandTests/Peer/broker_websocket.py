"""Speaks with a WebSocket that echoes: `broker_websocket.py HOST:PORT PATH`. It prints what it got back, and takes the
proxy, its password and the authority from the environment, as websocket-client does.

The secret must stand in nothing that it gets: that of the file `secret`.
"""
import json, os, sys, websocket

host, path = sys.argv[1:3]
token = os.environ["TOKEN"]
secret = open("secret").read()


def connect(**more):
    return websocket.create_connection(
        f"wss://{host}{path}", header=[f"Authorization: Bearer {token}"], timeout=60,
        sslopt={"ca_certs": os.environ["SSL_CERT_FILE"]}, **more)


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
