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
        try: self.host.stdin.close()
        except BrokenPipeError: pass
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


def run(line, text=""):
    """Runs a command of a shell, and returns its output."""
    return subprocess.run(["sh", "-c", line], input=text, capture_output=True, text=True, check=True).stdout


def matches():
    """Which stored addresses answer which pages: a line for each page, with the accounts that it gets."""
    for account, address in [
            ("main", "https://example.org"), ("www", "https://www.example.org"), ("port", "https://example.org:8443"),
            ("plain", "http://example.org"), ("plain-port", "http://example.org:8080"), ("bare", "example.org"),
            ("uk", "https://co.uk"), ("shared", "https://github.io"), ("mine", "https://mine.github.io"),
            ("local", "http://localhost"), ("number", "https://0.0.1"), ("numbers", "https://127.0.0.1"),
            ("six", "https://[::1]"), ("letters", "https://b\u00fccher.example"), ("imap", "imap://example.org"),
            ("path", "https://pathway.example/a/b"), ("kobe", "https://kobe.jp")]:
        run(f"keychain internet set '{address}' --account {account}", account)
    run("keychain set 'Example' other --attribute url=https://first.example/login "
        "--attribute 'url 2=https://second.example'", "x")
    run("keychain set 'No page' other", "x")
    run("printf 'protocol=https\nhost=example.org\nusername=git\npassword=x\nauthtype=Bearer\ncredential=x\n' > request")
    extension = connected()
    for page in [
            "https://example.org/", "https://example.org:443/a?b#c", "https://EXAMPLE.org", "https://example.org./",
            "https://www.example.org/", "https://a.www.example.org/", "https://example.org:8443/",
            "https://sub.example.org:8443/", "https://example.org:8444/", "http://example.org/",
            "http://example.org:8080/", "http://www.example.org/", "https://notexample.org/", "https://other.co.uk/",
            "https://evil.github.io/", "https://mine.github.io/", "https://sub.mine.github.io/",
            "http://localhost/", "https://localhost/", "http://a.localhost/", "https://127.0.0.1/",
            "https://127.0.0.1.example/", "https://[::1]/", "https://xn--bcher-kva.example/",
            "https://b\u00fccher.example/", "https://www.b\u00fccher.example/", "https://pathway.example/other",
            "https://first.example/", "https://second.example/", "http://second.example/", "https://third.example/",
            "https://a.city.kobe.jp/", "https://x.y.kobe.jp/", "https://org/", "https://example.org@evil.example/",
            "https://evil.example/?https://example.org/", "https://evil.example\\@example.org/",
            "https://example.org\n.evil.example/", "https://example.org\u0000.evil.example/", "file:///etc/passwd",
            "ftp://example.org/", "moz-extension://example.org/", "https://", "example.org", "https:///",
            "https://" + "a" * 70000, "https://example.org:99999999999999999999/", "https://example.org:0/",
            "https://user:password@example.org/"]:
        found = extension.logins(page)
        shown = page if len(page) < 100 else page[:10]
        print(json.dumps(shown), found if isinstance(found, int) else " ".join(account for account, _ in found))
    for wrong in [None, 7, 1e300, True, [], {}, ["https://example.org"]]:
        extension.ask("get-logins", {"url": wrong, "keys": [{"id": extension.name, "key": extension.identity}]}) == 14 or print(wrong)
    print("end", extension.end()[0])


def consent():
    """What a person refuses is not given, and not asked again; what a person allows is remembered for each site."""
    run("keychain internet set https://alice@example.org", "x")
    run("keychain internet set https://bob@other.example", "x")
    run("keychain set 'A' 'line\nbreak' --attribute url=https://lines.example", "x")
    say("no")
    extension = Extension().connect()
    print("refused", extension.associate())
    say("yes")
    print("associated", extension.associate()["id"] != "")
    say("late")
    print("late", extension.logins("https://example.org/"))
    say("no")
    print("refused", extension.logins("https://example.org/"), extension.logins("https://example.org/"), len(dialogs()))
    say("yes")
    print("other", extension.logins("https://other.example/"), len(dialogs()))
    print("still", extension.logins("https://example.org/"), len(dialogs()))
    # Longer than an answer to a browser can be.
    for number in range(3):
        run(f"keychain internet set https://large.example --account {number}", "x" * 300_000)
    print("large", extension.logins("https://large.example/"))
    print("lines", len(extension.logins("https://lines.example/")), "line break" in dialogs()[-1])
    extension.save()
    print("end", "longer than the 1048576 bytes" in extension.end()[1])
    extension = Extension().connect().load()
    print("later", extension.logins("https://other.example/"), len(dialogs()))
    name = extension.name
    print("listed", run(f"keychain browser list {name}").split())
    run(f"keychain browser forget {name} --site https://other.example")
    say("no")
    print("asked", extension.logins("https://other.example/"), len(dialogs()))
    run(f"keychain browser forget {name}")
    print("forgotten", extension.logins("https://other.example/"), extension.ask("get-database-groups"),
          extension.ask("test-associate", {"id": name, "key": extension.identity}))
    extension.end()
    del os.environ["KEYCHAIN_PINENTRY"]
    extension = Extension().connect()
    print("nobody", extension.associate())
    extension.end()


def changes():
    """A new password takes the place of the former one, which stays in the history, with the item's attributes."""
    run("keychain internet set https://alice@example.org", "first")
    run("keychain set Shop bob --attribute url=https://shop.example --attribute color=red", "old")
    extension = connected()
    entries = extension.ask("get-logins", {"url": "https://example.org", "keys": [
        {"id": extension.name, "key": extension.identity}]})["entries"]
    number = entries[0]["uuid"]
    def change(url, login, password, **more):
        answer = extension.ask("set-login", {"url": url, "login": login, "password": password, **more})
        return answer if isinstance(answer, int) else "done"
    print("other page", change("https://evil.example", "alice", "x", uuid=number))
    print("no such", change("https://example.org", "alice", "x", uuid="00" * 16))
    print("hostile", change("https://example.org", "alice", "x", uuid="' OR 1=1"))
    print("empty", change("https://example.org", "alice", ""))
    print("no page", change("file:///", "alice", "x"))
    print("password", change("https://example.org", "alice", "second", uuid=number))
    print("account", change("https://example.org", "alicia", "third", uuid=number))
    print("again", change("https://example.org/join", "alicia", "fourth"))
    print("now", extension.logins("https://example.org"))
    print("generic", change("https://shop.example/", "bob", "new"), extension.logins("https://shop.example"))
    print("color", "red" in run("keychain info Shop bob"))
    print("history", run("keychain history Shop bob | wc -l").strip())
    print("port", change("https://new.example:8443/a", "", "x"), extension.logins("https://new.example:8443"),
          run("keychain internet list new.example").strip())
    extension.end()


def codes():
    """One-time codes of the entry, of the host and of nobody."""
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    run("keychain internet set https://alice@example.org", "x")
    run("keychain internet set https://bob@example.org", "x")
    run("keychain otp example.org alice --set", secret)
    run("keychain internet set https://ann@bank.example", "x")
    run("keychain otp bank.example ann --set",
        f"otpauth://hotp/Bank:ann?secret={secret}&counter=0&issuer=Bank")
    extension = connected()
    keys = [{"id": extension.name, "key": extension.identity}]
    entries = {entry["login"]: entry for entry in extension.ask(
        "get-logins", {"url": "https://example.org", "keys": keys})["entries"]}
    def code(entry):
        answer = extension.ask("get-totp", {"uuid": entry["uuid"]})
        return answer if isinstance(answer, int) else answer["totp"]
    expected = run("keychain otp example.org").strip()
    given = code(entries["alice"])
    # A period may end between the two.
    print("alice", given in (expected, run("keychain otp example.org").strip()), len(entries["alice"]["totp"]))
    print("bob", code(entries["bob"]), "totp" in entries["bob"])
    bank, = extension.ask("get-logins", {"url": "https://bank.example", "keys": keys})["entries"]
    print("counter", "totp" in bank, code(bank), code(bank))
    # RFC 4226, appendix D: the third one.
    print("after", run("keychain otp bank.example").strip())
    print("unknown", code({"uuid": "00" * 16}))
    extension.end()
    # Without consent for the site, its codes are out of reach.
    extension = connected()
    print("other", extension.ask("get-totp", {"uuid": entries["alice"]["uuid"]}))
    extension.end()


def locked():
    """A vault with a passcode: what is said of it, and how it is unlocked and locked."""
    run("keychain internet set https://alice@example.org", "x")
    run("printf right > right; keychain passcode set --memory 8 --passes 1 --new-passcode-fd 3 3<right")
    run("printf gold | keychain set Bank ann --require presence --attribute url=https://bank.example --passcode-fd 3 3<right")
    extension = Extension().connect()
    print("locked", extension.ask("get-databasehash"), extension.associate())
    say("wrong")
    print("wrong", extension.ask("get-databasehash", outer={"triggerUnlock": "true"}))
    say("no")
    print("refused", extension.ask("get-databasehash", outer={"triggerUnlock": "true"}))
    say("right")
    print("unlocked", len(extension.ask("get-databasehash", outer={"triggerUnlock": "true"})["hash"]))
    print("told", extension.answer("database-unlocked"))
    print("associated", extension.associate()["id"] != "", dialogs()[-1].split()[0])
    say("right")
    print("logins", extension.logins("https://example.org/"))
    # The person allows the site, and then shows to be there, each time.
    count = len(dialogs())
    print("bank", extension.logins("https://bank.example/"), len(dialogs()) - count)
    count = len(dialogs())
    print("bank", extension.logins("https://bank.example/"), len(dialogs()) - count)
    say("no")
    print("bank", extension.logins("https://bank.example/"))
    print("lock", extension.ask("lock-database"))
    print("told", extension.answer("database-locked"))
    print("locked", extension.ask("get-databasehash"), extension.logins("https://example.org/"))
    print("end", extension.end()[0])


def while_asked():
    """Requests that ask nobody are answered while a person is asked, and the question goes when the browser goes."""
    run("keychain internet set https://alice@example.org", "x")
    extension = connected()
    say("wait")
    keys = [{"id": extension.name, "key": extension.identity}]
    request, nonce = extension.sealed("get-logins", {"url": "https://example.org", "keys": keys})
    extension.send(request)
    while len(dialogs()) < 2: time.sleep(0.02)
    print("meanwhile", len(extension.ask("get-databasehash")["hash"]))
    say("yes")
    print("then", len(extension.opened(extension.answer("get-logins"), nonce)["entries"]))
    run(f"keychain browser forget {extension.name} --site https://example.org")
    say("wait")
    extension.send(extension.sealed("get-logins", {"url": "https://example.org", "keys": keys})[0])
    while len(dialogs()) < 3: time.sleep(0.02)
    print("end", extension.end())
    say("yes")


def hostile():
    """What no browser sends."""
    for arguments in [[], ["/m.json", "other@example.org"], ["chrome-extension://aaaa/"], ["x" * 5000]]:
        status, errors = Extension(arguments).end()
        print(status, errors.split(":")[1].strip())
    for data in [
            struct.pack("=I", 0), struct.pack("=I", (1 << 20) + 1) + b"x", struct.pack("=I", 0xFFFFFFFF), b"\x01",
            struct.pack("=I", 10), struct.pack("=I", 10) + b"{}", struct.pack("=I", 2) + b"[]",
            struct.pack("=I", 4) + b"null", struct.pack("=I", 3) + b"\xff\xfe{", struct.pack("=I", 5) + b'{"a":',
            struct.pack("=I", 200000) + b"[" * 200000]:
        extension = Extension()
        try: extension.send_bytes(data)
        except BrokenPipeError: pass
        status, errors = extension.end()
        print(status, errors.split(";")[0].removeprefix("keychain: the browser sent "))
    extension = Extension()
    client = text(random(24))
    def error(message):
        extension.send(message)
        return extension.receive()
    print(*(error(message)["errorCode"] for message in [
        {}, {"action": 1e300}, {"action": ["a"]}, {"action": "x" * 1000}, {"action": "passkeys-register"}]))
    print(error({"action": "get-logins", "requestID": "abcd"}))
    for key in ["", "AAAA", text(bytes(32)), text(bytes(31)), text(b"\x01" + bytes(31)), 5, None, "=" * 44, "x" * 100000]:
        print(error({"action": "change-public-keys", "publicKey": key, "nonce": text(random(24)), "clientID": client})["errorCode"], end=" ")
    for nonce in ["", text(random(23)), text(random(25)), "*" * 32, None, -1, 1 << 62]:
        print(error({"action": "change-public-keys", "publicKey": text(bytes(PrivateKey.generate().public_key)),
                     "nonce": nonce, "clientID": client})["errorCode"], end=" ")
    print()
    extension.connect()
    request, nonce = extension.sealed("get-databasehash")
    print("first", "message" in error(request), "replayed", error(request)["errorCode"])
    print("reflected", extension.ask("get-databasehash", nonce=incremented(nonce)))
    print("largest", len(extension.ask("get-databasehash", nonce=b"\xff" * 24)["hash"]))
    request, nonce = extension.sealed("get-databasehash")
    for change in [{"nonce": text(random(24))}, {"message": request["message"][:-8]}, {"message": "AAAA"},
                   {"message": text(bytes(16))}, {"message": ""}, {"message": 5}, {"clientID": client}, {"clientID": None},
                   {"action": "get-logins"}, {"action": "GET-LOGINS"}]:
        print(error({**request, **change})["errorCode"], end=" ")
    stranger = Box(PrivateKey.generate(), PublicKey(bytes(PrivateKey.generate().public_key)))
    print(error({**request, "message": text(stranger.encrypt(b"{}", nonce).ciphertext)})["errorCode"])
    print("not JSON", error({**request, "message": text(extension.box.encrypt(b"\xff", nonce).ciphertext)})["errorCode"])
    for action in ["test-associate", "get-logins", "set-login", "get-totp", "generate-password", "get-database-groups", "lock-database"]:
        print(extension.ask(action, {"id": 1e300, "key": [], "url": "https://example.org", "keys": 7, "uuid": {}}), end=" ")
    print(extension.ask("associate", {"key": 1, "idKey": "x"}), extension.ask("associate", {
        "key": text(bytes(PrivateKey.generate().public_key)), "idKey": text(random(32))}))
    former = extension.box
    request, _ = extension.sealed("get-databasehash")
    extension.connect()
    print("former keys", error(request)["errorCode"], error({**request, "clientID": extension.client})["errorCode"])
    print("still", len(extension.ask("get-databasehash")["hash"]))
    print("dialogs", len(dialogs()), extension.end())


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
