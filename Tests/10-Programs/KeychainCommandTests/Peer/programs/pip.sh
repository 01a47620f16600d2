#!/usr/bin/env bash
# pip, which asks keyring for the password of a package index. pip and keyring come from PyPI: Debian's pip is older
# than the option --keyring-provider.
. "$(dirname "$0")/lib.sh"
takes socket bus
needs python3-venv /usr/bin/python3 -c 'import ensurepip, venv'
needs dbus-daemon command -v dbus-daemon
begin

if ! { /usr/bin/python3 -m venv venv && venv/bin/pip install -q 'pip>=23.1' keyring; } >fetch.log 2>&1; then
    cat fetch.log
    echo 'missing: pip and keyring from PyPI, which pip could not install; its message is above'
    exit 1
fi
open_vault

mkdir -p index/demo
/usr/bin/python3 - <<'END'
import zipfile

FILES = {
    'demo/__init__.py': 'x = 1\n',
    'demo-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n',
    'demo-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
}
FILES['demo-1.0.dist-info/RECORD'] = ''.join(name + ',,\n' for name in [*FILES, 'demo-1.0.dist-info/RECORD'])
with zipfile.ZipFile('index/demo/demo-1.0-py3-none-any.whl', 'w') as wheel:
    for name, text in FILES.items():
        wheel.writestr(name, text)
END

# An index that is open to alice with her password.
cat >index.py <<'END'
import base64
import functools
import http.server

OPEN = 'Basic ' + base64.b64encode(b'alice:swordfish').decode()


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.headers.get('Authorization') == OPEN:
            return super().do_GET()
        self.send_response(401)
        self.send_header('WWW-Authenticate', 'Basic realm="here"')
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Handler, directory='index'))
print(server.server_address[1], file=open('port', 'w'), flush=True)
server.serve_forever()
END
serve_python index.py
url=http://127.0.0.1:$port/

unset "${!PIP_@}"
export PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
export PYTHON_KEYRING_BACKEND=keyring.backends.SecretService.Keyring
# pip does not take the keyring beside itself for the program to ask, so it finds it elsewhere on the PATH.
mkdir programs
ln -s "$work/venv/bin/keyring" programs/keyring
PATH=$work/programs:$PATH

# install PROVIDER USER: installs the package, and prints the name of what was installed.
install() {
    rm -rf target
    timeout $patience venv/bin/pip --retries 0 install -q --no-cache-dir --target target --keyring-provider "$1" \
        --index-url "http://${2:+$2@}127.0.0.1:$port/" demo >>pip.log 2>&1
    ls target 2>/dev/null | head -n 1
}

check 'without a password nothing is installed' "$(install subprocess alice)" ''
printf swordfish | keyring set "$url" alice
check 'status of keyring set' $? 0
check 'pip starts keyring and gets the password' "$(install subprocess alice)" demo
check 'pip imports keyring and gets the password' "$(install import alice)" demo
check 'keyring knows the name of the user, too' "$(install import '')" demo
check 'there is one item' "$(keychain list --attribute username=alice | wc -l)" 1

lock
check 'nothing is installed from a locked vault, by the program' "$(install subprocess alice)" ''
check 'nothing is installed from a locked vault, by the module' "$(install import alice)" ''
timeout $patience keyring get "$url" alice >get.log 2>&1
check 'keyring fails while the vault is locked' "$(($? != 0))" 1
check 'keyring shows no password' "$(grep -c swordfish get.log)" 0
unlock
check 'pip gets the password after the unlock' "$(install subprocess alice)" demo
keyring del "$url" alice
check 'nothing is left' "$(keychain list)" ''
finish
