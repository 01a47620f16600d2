"""Speaks to `keychain-browser` as the extension KeePassXC-Browser does, with PyNaCl.

    browser_peer.py SCENARIO

Each scenario starts the program, and prints what it answered. The program is found in PATH.
"""
import base64, json, os, subprocess, struct, sys, time
from nacl.public import Box, PrivateKey, PublicKey
from nacl.utils import random

FIREFOX = ["/manifest.json", "keepassxc-browser@keepassxc.org"]
CHROMIUM = ["chrome-extension://oboonakemofpalcgghocfoadofidjkkk/"]


def text(data): return base64.b64encode(data).decode()


def incremented(nonce):
    """As sodium_increment: a number of 24 bytes, the least significant first."""
    number = (int.from_bytes(nonce, "little") + 1) % (1 << 192)
    return number.to_bytes(24, "little")


class Extension:
    def __init__(self, arguments=FIREFOX):
        self.host = subprocess.Popen(
            ["keychain-browser"] + arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.waiting = []

    # Frames

    def send_bytes(self, data):
        self.host.stdin.write(data)
        self.host.stdin.flush()

    def send(self, message):
        data = json.dumps(message).encode()
        self.send_bytes(struct.pack("=I", len(data)) + data)

    def receive(self):
        head = self.host.stdout.read(4)
        if len(head) < 4: return None
        data = self.host.stdout.read(struct.unpack("=I", head)[0])
        return json.loads(data)

    def answer(self, action):
        """The next message about an action; others are kept."""
        for message in self.waiting:
            if message["action"] == action:
                self.waiting.remove(message)
                return message
        while True:
            message = self.receive()
            if message is None or message["action"] == action: return message
            self.waiting.append(message)

    def end(self):
        """Closes the connection, and returns the exit status and the last line on standard error."""
        self.host.stdin.close()
        errors = self.host.stderr.read().decode().strip()
        return self.host.wait(), errors

    # The protocol

    def connect(self):
        self.key = PrivateKey.generate()
        self.client = text(random(24))
        nonce = random(24)
        self.send({"action": "change-public-keys", "publicKey": text(bytes(self.key.public_key)), "nonce": text(nonce),
                   "clientID": self.client})
        answer = self.answer("change-public-keys")
        assert answer["success"] == "true" and answer["nonce"] == text(incremented(nonce)), answer
        self.box = Box(self.key, PublicKey(base64.b64decode(answer["publicKey"])))
        return self

    def sealed(self, action, members={}, nonce=None, outer={}):
        nonce = nonce or random(24)
        message = json.dumps({"action": action, **members}).encode()
        return {"action": action, "message": text(self.box.encrypt(message, nonce).ciphertext), "nonce": text(nonce),
                "clientID": self.client, **outer}, nonce

    def ask(self, action, members={}, nonce=None, outer={}):
        """The members of the answer, or the number of the error."""
        request, nonce = self.sealed(action, members, nonce, outer)
        self.send(request)
        return self.opened(self.answer(action), nonce)

    def opened(self, answer, nonce):
        if "errorCode" in answer: return int(answer["errorCode"])
        after = incremented(nonce)
        assert answer["nonce"] == text(after)
        members = json.loads(self.box.decrypt(base64.b64decode(answer["message"]), after))
        assert members["nonce"] == text(after) and members["success"] == "true"
        return members

    def associate(self):
        self.identity = text(bytes(PrivateKey.generate().public_key))
        answer = self.ask("associate", {"key": text(bytes(self.key.public_key)), "idKey": self.identity})
        if isinstance(answer, dict): self.name = answer["id"]
        return answer

    def logins(self, url, **more):
        keys = [{"id": self.name, "key": self.identity}]
        answer = self.ask("get-logins", {"url": url, "submitUrl": url, "id": self.name, "keys": keys, **more})
        if isinstance(answer, int): return answer
        return [(entry["login"], entry["password"]) for entry in answer["entries"]]

    def save(self):
        with open("identity", "w") as file: json.dump([self.name, self.identity], file)

    def load(self):
        with open("identity") as file: self.name, self.identity = json.load(file)
        return self


def connected(arguments=FIREFOX):
    """A browser that is connected, also to the keychain."""
    extension = Extension(arguments).connect()
    answer = extension.associate()
    assert isinstance(answer, dict), answer
    return extension


def dialogs():
    """What pinentry showed so far."""
    try:
        with open("dialogs") as file: return file.read().splitlines()
    except FileNotFoundError: return []


def say(answer):
    with open("answer", "w") as file: file.write(answer)


def everything():
    """The way of a browser through one day."""
    extension = Extension().connect()
    print("hash", len(extension.ask("get-databasehash")["hash"]))
    print("unknown", extension.ask("test-associate", {"id": "x", "key": "y"}))
    extension.name, extension.identity = "x", "y"
    print("before", extension.logins("https://example.org/login"))
    print("associate", extension.associate()["id"])
    print("logins", extension.logins("https://example.org/login"))
    print("again", extension.logins("https://example.org/other"), len(dialogs()))
    print("none", extension.logins("https://other.example/"))
    password = extension.ask("generate-password")
    print("generated", len(password["password"]))
    print("new", extension.ask("set-login", {"url": "https://new.example/join", "login": "carol", "password": "first"})["error"] == "")
    print("kept", extension.logins("https://new.example/join"))
    print("changed", extension.ask(
        "set-login", {"url": "https://new.example/join", "login": "carol", "password": "second",
                      "uuid": extension.ask("get-logins", {"url": "https://new.example/", "keys": [
                          {"id": extension.name, "key": extension.identity}]})["entries"][0]["uuid"]})["error"] == "")
    print("now", extension.logins("https://new.example/join"))
    print("groups", [group["name"] for group in extension.ask("get-database-groups")["groups"]["groups"]])
    print("group", extension.ask("create-new-group", {"groupName": "a"}))
    print("autotype", extension.ask("request-autotype", {"search": "example.org"}))
    print("passkey", extension.ask("passkeys-get", {}))
    extension.save()
    print("end", extension.end())
    extension = Extension(CHROMIUM).connect().load()
    print("known", extension.ask("test-associate", {"id": extension.name, "key": extension.identity})["id"])
    print("later", extension.logins("https://example.org/"))
    print("end", extension.end())


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
