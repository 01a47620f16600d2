#!/usr/bin/env bash
# cargo with a private registry, whose token cargo-credential-keychain keeps.
. "$(dirname "$0")/lib.sh"
takes embedded socket

# Credential providers are in cargo since version 1.74.
is_new_enough() {
    local version
    version=$(cargo --version) && [[ $version =~ ^cargo\ ([0-9]+)\.([0-9]+) ]] &&
        ((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2] >= 1074))
}

# rustup looks for the compiler in the real home.
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
needs 'cargo, 1.74 or later (Debian 13 has it; else https://rustup.rs)' is_new_enough
needs 'cargo-credential-keychain (this package)' command -v cargo-credential-keychain
begin

# A registry in which everything needs the token. It writes each request with its token to the file `seen`.
cat >registry.py <<'END'
import hashlib
import http.server
import json
import struct

TOKEN = 'swordfish'
lines = {}
archives = {}


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, body, status=200):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        if status == 401:
            self.send_header('WWW-Authenticate', 'Cargo login_url="http://127.0.0.1/me"')
        self.end_headers()
        self.wfile.write(body)

    def publish(self, data):
        length, = struct.unpack('<I', data[:4])
        crate = json.loads(data[4:4 + length])
        archive = data[8 + length:]
        archives[crate['name']] = archive
        line = {
            'name': crate['name'], 'vers': crate['vers'], 'deps': [], 'features': {}, 'yanked': False,
            'cksum': hashlib.sha256(archive).hexdigest(),
        }
        lines[crate['name']] = (json.dumps(line) + '\n').encode()
        self.answer({'warnings': {'invalid_categories': [], 'invalid_badges': [], 'other': []}})

    def search(self):
        found = [{'name': name, 'max_version': '0.1.0', 'description': 'd'} for name in lines]
        self.answer({'crates': found, 'meta': {'total': len(found)}})

    def respond(self):
        data = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        token = self.headers.get('Authorization', '-')
        print(self.command, self.path, token, file=open('seen', 'a'), flush=True)
        base = 'http://127.0.0.1:%d' % self.server.server_address[1]
        name = self.path.split('/')[-1]
        if token != TOKEN:
            self.answer({'errors': [{'detail': 'no token'}]}, 401)
        elif self.path == '/index/config.json':
            self.answer({'dl': base + '/dl', 'api': base, 'auth-required': True})
        elif self.path.startswith('/index/') and name in lines:
            self.answer(lines[name])
        elif self.path == '/api/v1/crates/new':
            self.publish(data)
        elif self.path.startswith('/dl/'):
            self.answer(archives[self.path.split('/')[2]])
        elif self.path.endswith('/owners'):
            self.answer({'users': [{'id': 1, 'login': 'alice', 'name': 'Alice'}]})
        elif self.path.startswith('/api/v1/crates?'):
            self.search()
        else:
            self.answer({}, 404)

    do_GET = do_PUT = do_DELETE = respond

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_address[1], file=open('port', 'w'), flush=True)
server.serve_forever()
END
touch seen
serve_python registry.py
open_vault

unset "${!CARGO_REGISTR@}"
export CARGO_HOME=$work/cargo
mkdir "$CARGO_HOME"
cat >"$CARGO_HOME/config.toml" <<END
[registries.local]
index = "sparse+http://127.0.0.1:$port/index/"
[registry]
global-credential-providers = ["cargo-credential-keychain"]
END
mkdir -p tool/src app/src
cat >tool/Cargo.toml <<'END'
[package]
name = "tool"
version = "0.1.0"
edition = "2021"
license = "MIT"
description = "d"
publish = ["local"]
END
echo 'pub fn f() -> u8 { 7 }' >tool/src/lib.rs
cat >app/Cargo.toml <<'END'
[package]
name = "app"
version = "0.1.0"
edition = "2021"
[dependencies]
tool = { version = "0.1.0", registry = "local" }
END
echo 'fn main() {}' >app/src/main.rs

# run FOLDER ARGUMENT…: runs cargo there.
run() {
    (cd "$1" && shift && timeout $((3 * patience)) cargo "$@" 2>>"$work/cargo.log")
}

run tool publish --registry local --no-verify --allow-dirty </dev/null
check 'without a token nothing is published' "$(($? != 0))" 1
echo swordfish | run . login --registry local >>cargo.log
check 'cargo signs in' $? 0
check 'the keychain has the token' "$(keychain list | wc -l)" 1
run tool publish --registry local --no-verify --allow-dirty
check 'cargo publishes' $? 0
check 'cargo lists the owner' "$(run tool owner --list --registry local)" 'alice (Alice)'
check 'cargo finds the crate' "$(run . search --registry local tool | head -n 1)" 'tool = "0.1.0"    # d'
run app fetch
check 'cargo fetches' $? 0
check 'no file of cargo has the token' "$(grep -rl swordfish "$CARGO_HOME")" ''

# Without a daemon nothing keeps the vault unlocked after `keychain unlock`.
if [[ $place != embedded ]]; then
    lock
    rm -rf "$CARGO_HOME/registry" app/Cargo.lock
    run app fetch </dev/null
    check 'nothing is fetched while the vault is locked' "$(($? != 0))" 1
    unlock
    run app fetch
    check 'cargo fetches after the unlock' $? 0
fi

run . logout --registry local >>cargo.log
check 'cargo signs out' $? 0
check 'nothing is left' "$(keychain list)" ''
run . logout --registry local >>cargo.log
check 'to sign out twice is no error' $? 0
finish
