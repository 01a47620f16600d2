"""Chromium with the code of the extension KeePassXC-Browser, on a page with a login form.

    chromium_peer.py

Chromium takes only extensions of version 3 of the manifest, and Debian's is of version 2. So the scripts run as they
are, under a manifest that is translated, and with what is gone from Chromium put in its place. Chromium runs without a
window, and is driven by the protocol of its developer tools. What happens is printed.
"""
import asyncio, http.server, json, os, shutil, subprocess, threading, time, urllib.request
import websockets
from firefox_peer import EXTENSION, Pages, free_port, store

WORKER = """
self.window = self
self.HTMLElement = class {}
const create = chrome.contextMenus.create.bind(chrome.contextMenus)
chrome.contextMenus.create = ({ onclick, ...item }, done) => create({ ...item, id: item.id ?? item.title }, done)
importScripts('/common/browser-polyfill.js')
browser.browserAction = browser.action
importScripts(%s)
httpAuth.init = async () => {}
importScripts('/background/init.js')
"""


def translate(folder):
    """Copies the extension, and gives it a manifest of version 3."""
    shutil.copytree(EXTENSION, folder)
    with open(folder + "/manifest.json") as file: manifest = json.load(file)
    scripts = manifest["background"]["scripts"][1:-1]
    with open(folder + "/worker.js", "w") as file:
        file.write(WORKER % ", ".join(f"'/{script}'" for script in scripts))
    manifest["manifest_version"] = 3
    manifest["background"] = {"service_worker": "worker.js"}
    manifest["action"] = manifest.pop("browser_action")
    manifest["host_permissions"] = ["<all_urls>"]
    manifest["permissions"] = [name for name in manifest["permissions"] if "/" not in name and name != "webRequestBlocking"]
    manifest["web_accessible_resources"] = [
        {"resources": manifest["web_accessible_resources"], "matches": ["<all_urls>"]}]
    for name in ["content_security_policy", "applications"]: manifest.pop(name)
    with open(folder + "/manifest.json", "w") as file: json.dump(manifest, file)


class Page:
    """A connection to the developer tools of one page or worker."""
    def __init__(self, target): self.target, self.number = target, 0

    async def __aenter__(self):
        self.socket = await websockets.connect(self.target["webSocketDebuggerUrl"], max_size=None)
        return self

    async def __aexit__(self, *error): await self.socket.close()

    async def ask(self, method, **members):
        self.number += 1
        await self.socket.send(json.dumps({"id": self.number, "method": method, "params": members}))
        while True:
            answer = json.loads(await asyncio.wait_for(self.socket.recv(), 60))
            if answer.get("id") == self.number: return answer.get("result", answer)

    async def run(self, text):
        answer = await self.ask("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def until(self, text):
        limit = time.monotonic() + 60
        while True:
            result = await self.run(text)
            if result: return result
            assert time.monotonic() < limit, f"Chromium has not come to {text}"
            await asyncio.sleep(0.1)

    async def tell(self, action, arguments=None):
        return await self.run(f"browser.runtime.sendMessage({json.dumps({'action': action, 'args': arguments})})")


class Browser:
    def __init__(self, port): self.address = f"http://127.0.0.1:{port}/json"

    def targets(self):
        try: return json.load(urllib.request.urlopen(self.address))
        except OSError: return []

    async def until(self, condition):
        limit = time.monotonic() + 60
        while True:
            found = [target for target in self.targets() if condition(target)]
            if found: return found[0]
            assert time.monotonic() < limit, f"Chromium has only {self.targets()}"
            await asyncio.sleep(0.1)

    async def open(self, address):
        request = urllib.request.Request(f"{self.address}/new?{address}", method="PUT")
        return json.load(urllib.request.urlopen(request))


async def drive(browser, site):
    worker = await browser.until(lambda target: target["type"] == "service_worker")
    identifier = worker["url"].split("/")[2]
    print("extension", identifier)
    async with Page(await browser.open(f"chrome-extension://{identifier}/options/options.html")) as own:
        await own.until("typeof browser == 'object' && document.readyState == 'complete'")
        limit = time.monotonic() + 60
        while not await own.tell("is_connected"):
            assert time.monotonic() < limit, "the extension has no host"
            await asyncio.sleep(0.1)
        settings = await own.tell("load_settings")
        await own.tell("save_settings", {**settings, "autoFillSingleEntry": True})
        print("associated", await own.tell("associate"))
        async with Page(await browser.open(f"http://{site}/login")) as page:
            values = "['username', 'password'].map((name) => document.forms[0].elements[name].value)"
            await page.until("document.forms[0]?.elements.password.value")
            print("filled", await page.run(values))
        print("stored", await own.tell("add_credentials", ["carol", "anchovy", f"http://{site}/join"]))
    print("kept", subprocess.run(
        ["keychain", "internet", "get", f"http://carol@{site}"], capture_output=True, text=True).stdout)


def main():
    home = os.environ["HOME"]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"localhost:{server.server_port}"
    store(f"http://alice@{site}", "swordfish")
    translate(home + "/extension")
    port = free_port()
    # The tools for developers are refused in the usual folder of profiles, where the manifest is.
    environment = {**os.environ, "CHROME_CONFIG_HOME": home + "/other"}
    with open(home + "/chromium.log", "w") as log:
        chromium = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             f"--user-data-dir={home}/.config/chromium", f"--remote-debugging-port={port}",
             f"--load-extension={home}/extension", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
    try:
        asyncio.run(drive(Browser(port), site))
    finally:
        chromium.kill()
        chromium.wait()


if __name__ == "__main__": main()
