"""Firefox with the extension KeePassXC-Browser, as Debian has both, on a page with a login form.

    firefox_peer.py

Firefox runs without a window, and is driven by Marionette, its protocol for tests. What happens is printed.
"""
import http.server, json, os, socket, subprocess, threading, time, urllib.parse

EXTENSION = "/usr/share/webext/keepassxc-browser"
IDENTIFIER = "keepassxc-browser@keepassxc.org"
# Firefox makes up this part of the address of an extension, unless it is told.
ORIGIN = "a1b2c3d4-0000-4000-8000-000000000001"
PAGE = b"""<!DOCTYPE html><title>Sign in</title><form action="/in" method="post">
<input type="text" name="username" autocomplete="username"><input type="password" name="password">
<button>Sign in</button></form>"""


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *arguments): pass


class Marionette:
    def __init__(self, port):
        until = time.monotonic() + 60
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                assert time.monotonic() < until, "Firefox does not start"
                time.sleep(0.1)
        self.file, self.number = self.socket.makefile("rb"), 0
        self.read()
        self.ask("WebDriver:NewSession")
        self.ask("WebDriver:SetTimeouts", {"script": 60_000})

    def read(self):
        length = b""
        while not length.endswith(b":"): length += self.file.read(1)
        return json.loads(self.file.read(int(length[:-1])))

    def ask(self, command, members={}):
        self.number += 1
        data = json.dumps([0, self.number, command, members]).encode()
        self.socket.sendall(b"%d:" % len(data) + data)
        _, _, error, result = self.read()
        assert not error, error
        return result

    def script(self, text, *arguments, sandbox=None):
        return self.ask("WebDriver:ExecuteScript", {"script": text, "args": arguments, "sandbox": sandbox})["value"]

    def tell(self, action, arguments=None):
        """Sends a message to the extension, as its own pages do."""
        return json.loads(self.ask("WebDriver:ExecuteAsyncScript", {"args": [action, arguments], "script": """
            const [action, args, done] = arguments
            browser.runtime.sendMessage({ action, args }).then(
                (answer) => done(JSON.stringify(answer ?? null)), (error) => done(JSON.stringify("error: " + error)))
            """})["value"])

    def open_extension(self):
        """Opens a page of the extension in a tab of its own: pages of the web cannot send it messages."""
        before = set(self.ask("WebDriver:GetWindowHandles"))
        self.ask("Marionette:SetContext", {"value": "chrome"})
        self.script("""gBrowser.selectedTab = gBrowser.addTab(arguments[0], {
            triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() })""",
                    f"moz-extension://{ORIGIN}/options/options.html")
        self.ask("Marionette:SetContext", {"value": "content"})
        self.page, = before
        self.own, = self.until(lambda: set(self.ask("WebDriver:GetWindowHandles")) - before)
        self.go_to(self.own)
        self.until(lambda: self.script("return typeof browser") == "object")

    def inside(self, text, *arguments):
        """Runs a script with the rights of Firefox itself; its last argument takes the answer."""
        self.ask("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.ask("WebDriver:ExecuteAsyncScript", {"args": arguments, "script": text})["value"]
        finally:
            self.ask("Marionette:SetContext", {"value": "content"})

    def go_to(self, tab): self.ask("WebDriver:SwitchToWindow", {"handle": tab})

    def until(self, condition):
        limit = time.monotonic() + 60
        while True:
            result = condition()
            if result: return result
            assert time.monotonic() < limit, "Firefox has not come to it"
            time.sleep(0.1)

    def fields(self):
        return self.script("return ['username', 'password'].map((name) => document.forms[0].elements[name].value)")


# What a person may have in Firefox: commas, quotes, other alphabets, spaces at the ends, a form's action, a realm.
LOGINS = [
    ["https://shop.example", "https://shop.example", None, "ann,\"a\"", "sword;fish, \"x\""],
    ["https://shop.example", "https://shop.example", None, "Zoë", "pässwörd ☃ 🔑"],
    ["https://bank.example:8443", "https://login.bank.example", None, "", " spaces "],
    ["http://router.example", None, "Admin, \"area\"", "admin", "=1+1"],
]


def exchange(firefox):
    """Firefox writes its logins into a file, which is taken in here; and it takes in what is written here."""
    taken = firefox.inside("""
        const [logins, path, done] = arguments
        const { LoginExport } = ChromeUtils.importESModule("resource://gre/modules/LoginExport.sys.mjs");
        (async () => {
            for (const [origin, action, realm, name, password] of logins) {
                const login = Cc["@mozilla.org/login-manager/loginInfo;1"].createInstance(Ci.nsILoginInfo)
                login.init(origin, action, realm, name, password, "", "")
                await Services.logins.addLoginAsync(login)
            }
            await LoginExport.exportAsCSV(path)
            return "written"
        })().then(done, (error) => done("error: " + error))
        """, LOGINS, os.environ["HOME"] + "/firefox.csv")
    assert taken == "written", taken
    print(subprocess.run(
        ["keychain", "import", "firefox.csv", "--group", "firefox"], capture_output=True, text=True,
        cwd=os.environ["HOME"]).stdout.splitlines()[-1])
    for origin, _, _, name, password in LOGINS:
        scheme, rest = origin.split("://")
        found = subprocess.run(
            ["keychain", "internet", "get", f"{scheme}://{urllib.parse.quote(name, safe='')}@{rest}" if name else origin,
             "--group", "firefox"], capture_output=True, text=True)
        assert found.stdout == password + "\n" or found.stdout == password, (origin, name, found)
    subprocess.run(
        ["keychain", "export", "--format", "csv", "--group", "firefox", "--output", "back.csv"], check=True, capture_output=True,
        cwd=os.environ["HOME"])
    back = firefox.inside("""
        const [path, done] = arguments
        const { LoginCSVImport } = ChromeUtils.importESModule("resource://gre/modules/LoginCSVImport.sys.mjs");
        (async () => {
            for (const login of await Services.logins.getAllLogins()) await Services.logins.removeLoginAsync(login)
            await LoginCSVImport.importFromCSV(path)
            return (await Services.logins.getAllLogins()).map((login) => [login.origin, login.username, login.password])
        })().then(done, (error) => done("error: " + error))
        """, os.environ["HOME"] + "/back.csv")
    assert sorted(back) == sorted([login[0], *login[3:]] for login in LOGINS), back
    print("exchanged", len(back))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def store(address, secret):
    subprocess.run(["keychain", "internet", "set", address], input=secret.encode(), check=True)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"localhost:{server.server_port}"
    store(f"http://alice@{site}", "swordfish")
    store("https://bob@localhost", "herring")
    subprocess.run(["keychain", "otp", "localhost", "alice", "--set"], input=b"GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", check=True)
    port = free_port()
    profile = os.environ["HOME"] + "/profile"
    os.makedirs(profile)
    uuids = json.dumps(json.dumps({IDENTIFIER: ORIGIN}))
    with open(profile + "/user.js", "w") as file:
        file.write(f'user_pref("marionette.port", {port});\nuser_pref("extensions.webextensions.uuids", {uuids});\n')
        for name in ["datareporting.policy.dataSubmissionEnabled", "app.normandy.enabled", "signon.rememberSignons"]:
            file.write(f'user_pref("{name}", false);\n')
    with open(os.environ["HOME"] + "/firefox.log", "w") as log:
        firefox = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile",
             profile, "about:blank"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        drive(Marionette(port), site)
    finally:
        firefox.kill()
        firefox.wait()


def drive(firefox, site):
    firefox.ask("Addon:Install", {"path": EXTENSION, "temporary": True})
    firefox.open_extension()
    firefox.until(lambda: firefox.tell("is_connected"))
    settings = firefox.tell("load_settings")
    settings["autoFillSingleEntry"] = True
    firefox.tell("save_settings", settings)
    print("associated", firefox.tell("associate"))
    firefox.go_to(firefox.page)
    firefox.ask("WebDriver:Navigate", {"url": f"http://{site}/login"})
    firefox.until(lambda: firefox.fields()[1])
    print("filled", firefox.fields())
    firefox.go_to(firefox.own)
    login, = firefox.tell("retrieve_credentials", [f"http://{site}/", f"http://{site}/"])
    print("code", len(firefox.tell("get_totp", [login["uuid"], ""])))
    print("stored", firefox.tell("add_credentials", ["carol", "anchovy", f"http://{site}/join"]))
    print("status", firefox.tell("get_status", [False])["associated"])
    print("generated", len(firefox.tell("generate_password")))
    print("browsers", subprocess.run(["keychain", "browser", "list"], capture_output=True, text=True).stdout.split()[3])
    print("kept", subprocess.run(
        ["keychain", "internet", "get", f"http://carol@{site}"], capture_output=True, text=True).stdout)
    exchange(firefox)
    print("locked", firefox.tell("lock_database")["databaseClosed"])


if __name__ == "__main__": main()
