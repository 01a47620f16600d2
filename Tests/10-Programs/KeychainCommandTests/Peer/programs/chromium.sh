#!/usr/bin/env bash
# Chromium, which encrypts its cookies with a key that it keeps in the Secret Service.
. "$(dirname "$0")/lib.sh"
takes socket bus
needs chromium command -v chromium
needs libsecret-tools command -v secret-tool
needs dbus-daemon command -v dbus-daemon
begin

# A page that sets a cookie. The server writes the cookie of each request to the file `seen`.
cat >server.py <<'END'
import http.server


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        cookie = self.headers.get('Cookie')
        if self.path == '/':
            print(cookie or '-', file=open('seen', 'a'), flush=True)
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        if not cookie:
            self.send_header('Set-Cookie', 'fish=swordfish; Max-Age=86400; Path=/')
        self.end_headers()
        self.wfile.write(b'<title>page</title>hello')

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_address[1], file=open('port', 'w'), flush=True)
server.serve_forever()
END

# Opens a page, waits until it is loaded, and closes the browser as a person does, so that it writes its cookies.
cat >browse.py <<'END'
import json
import os
import subprocess
import sys
import time

url, profile = sys.argv[1:]
OPTIONS = [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-dev-shm-usage',
    '--disable-component-update', '--disable-background-networking', '--enable-logging=stderr',
    '--password-store=gnome-libsecret', '--remote-debugging-pipe', '--user-data-dir=' + profile, 'about:blank',
]
commands_in, commands = os.pipe()
replies, replies_out = os.pipe()


def give_pipes():
    # The browser reads commands from descriptor 3 and writes replies to 4. The pipes may have these numbers here.
    os.dup2(commands_in, 13)
    os.dup2(replies_out, 14)
    os.dup2(13, 3)
    os.dup2(14, 4)


browser = subprocess.Popen(
    ['chromium', *OPTIONS], preexec_fn=give_pipes, close_fds=False, stdout=subprocess.DEVNULL,
    stderr=open('chromium.log', 'a'))
os.close(commands_in)
os.close(replies_out)
number = 0
received = b''


def call(method, session=None, **parameters):
    global number, received
    number += 1
    message = {'id': number, 'method': method, 'params': parameters}
    if session:
        message['sessionId'] = session
    os.write(commands, json.dumps(message).encode() + b'\0')
    while True:
        while b'\0' not in received:
            part = os.read(replies, 65536)
            if not part:
                raise EOFError('the browser has ended')
            received += part
        reply, received = received.split(b'\0', 1)
        reply = json.loads(reply)
        if reply.get('id') == number:
            return reply.get('result', reply)


def is_loaded(session):
    state = call('Runtime.evaluate', session, expression='document.title + document.readyState', returnByValue=True)
    return state['result'].get('value') == 'pagecomplete'


try:
    target = call('Target.createTarget', url=url)['targetId']
    session = call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
    deadline = time.monotonic() + 100
    while not is_loaded(session):
        if time.monotonic() > deadline:
            sys.exit('the page is not loaded')
        time.sleep(0.1)
    try:
        call('Browser.close')
    except EOFError:
        pass
    browser.wait(60)
finally:
    browser.kill()
END

touch seen
serve_python server.py
open_vault

# Runs the browser once.
browse() {
    timeout $((3 * patience)) /usr/bin/python3 browse.py "http://127.0.0.1:$port/" "$work/profile" 2>>browse.log
}

# Prints the cookies on disk: name, readable value, and the first bytes of the encrypted value.
stored() {
    /usr/bin/python3 - "$work/profile/Default/Cookies" <<'END'
import sqlite3
import sys

for name, value, encrypted in sqlite3.connect(sys.argv[1]).execute('select name, value, encrypted_value from cookies'):
    print(name, repr(value), encrypted[:3].decode())
END
}

# Chromium writes `v11` before what it encrypts with a key from the Secret Service, and `v10` with a key that all know.
encrypted="fish '' v11"

browse
check 'the first run ends' $? 0
check 'the cookie is encrypted' "$(stored)" "$encrypted"
browse
check 'the second run sends the cookie' "$(paste -sd' ' seen)" '- fish=swordfish'
check 'the key is in the keychain' "$(keychain list --attribute application=chromium | wc -l)" 1

lock
browse &
browsing=$!
started+=("$browsing")
poll grep -q 'waits for the vault' daemon.log
unlock
wait "$browsing"
check 'the browser waited for the unlock, and sends the cookie' "$(tail -n 1 seen)" fish=swordfish
check 'the cookie is still encrypted' "$(stored)" "$encrypted"

# Nobody unlocks. Then Chromium takes the key that all know, and forgets the cookie that it cannot read.
keychain lock
browse
check 'from a locked vault the browser has no cookie' "$(tail -n 1 seen)" -
unlock
rm -f "$work/profile/Default/Cookies"*
browse
check 'after the unlock a new cookie is encrypted' "$(stored)" "$encrypted"
finish
