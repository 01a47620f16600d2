"""A Chromium without a window, spoken to in the DevTools protocol through a pipe."""

import base64
import json
import os
import select
import signal
import subprocess
import tempfile
import time

PATIENCE = 60


class Failure(Exception):
    pass


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # Descriptors 3 and 4 are the pipe. Root has no sandbox; the pages are our own.
        script = (
            "exec chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
            "--disable-background-networking --disable-component-update --disable-sync --hide-scrollbars "
            '--remote-debugging-pipe --user-data-dir="$0" 3<&0 4>&1 </dev/null >/dev/null 2>&1')
        self.process = subprocess.Popen(
            ["sh", "-c", script, f"{self.folder.name}/profile"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True, env={**os.environ, "TMPDIR": self.folder.name})
        self.rest, self.number, self.session, self.problems = b"", 0, None, []
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            # Nobody else has this object to close it.
            self.close()
            raise

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.folder.cleanup()

    def message(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            if not part:
                raise Failure("Chromium ended" if ready else "Chromium does not answer")
            self.rest += part
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        self.process.stdin.write(json.dumps(command).encode() + b"\0")
        self.process.stdin.flush()
        deadline = time.monotonic() + PATIENCE
        while True:
            message = self.message(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise Failure(f"{method}: {message['error']['message']}")
                return message["result"]
            self.hear(message)

    def hear(self, message):
        """Keeps what a page does wrong."""
        parameters = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(parameters["exceptionDetails"].get("text", "an exception"))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "assert"):
                self.problems.append(str([part.get("value") for part in parameters["args"]]))
            case "Log.entryAdded" if parameters["entry"]["level"] == "error":
                self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
            case "Network.responseReceived" if parameters["response"]["status"] >= 400:
                self.problems.append(f"{parameters['response']['status']} for {parameters['response']['url']}")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def wait(self, expression):
        """Waits until the page says that the expression is true."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if self.value(f"!!({expression})"):
                    return
            except Failure as failure:
                # The page is being replaced by another one.
                if "navigated" not in str(failure) and "context" not in str(failure):
                    raise
            if time.monotonic() > deadline:
                raise Failure(f"{self.value('location.href')} does not get to {expression}")
            time.sleep(0.05)

    def open(self, address, until):
        self.call("Page.navigate", url=address)
        self.wait(f"document.readyState == 'complete' && location.href != 'about:blank' && ({until})")

    def key(self, text):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=text, **({"text": text} if kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def width(self, pixels, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=pixels, height=812 if mobile else 900,
                  deviceScaleFactor=1, mobile=mobile)

    def colors(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
