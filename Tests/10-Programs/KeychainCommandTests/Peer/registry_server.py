"""Debian's registry of container images (docker-registry), which takes tokens alone, and the server that gives them.

    registry_server.py FOLDER
    registry_server.py image FOLDER     writes a small image there, in the layout of OCI

The first makes certificates as broker_server.py does. It prints the ports `registry` and `token` as one line of JSON,
and ends with its input. Each token that it gives is a line of FOLDER/tokens. SECRET in the environment is the password of
`alice`.
"""
import base64, gzip, hashlib, http.server, io, json, os, socket, ssl, subprocess, sys, tarfile, threading, time
import urllib.parse, uuid
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography import x509
from broker_server import make_certificates

SERVICE, ISSUER = "registry.example.test", "tokens.example.test"


def url_safe(data): return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Tokens(http.server.BaseHTTPRequestHandler):
    """https://distribution.github.io/distribution/spec/auth/token/"""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        pair = base64.b64encode(b"alice:" + os.environ["SECRET"].encode()).decode()
        if self.headers.get("Authorization", "") != "Basic " + pair: return self.answer(401, {"errors": ["log in"]})
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        access = []
        for scope in query.get("scope", []):
            kind, name, actions = scope.split(":")
            access.append({"type": kind, "name": name, "actions": actions.split(",")})
        token = self.token(access)
        with open(self.server.folder + "/tokens", "a") as file: file.write(token + "\n")
        self.answer(200, {"token": token, "access_token": token, "expires_in": 300})

    def token(self, access):
        now = int(time.time())
        head = {"typ": "JWT", "alg": "ES256", "x5c": [base64.b64encode(self.server.certificate).decode()]}
        claims = {"iss": ISSUER, "sub": "alice", "aud": SERVICE, "iat": now - 10, "nbf": now - 10, "exp": now + 300,
                  "jti": str(uuid.uuid4()), "access": access}
        text = ".".join(url_safe(json.dumps(part).encode()) for part in [head, claims])
        first, second = utils.decode_dss_signature(
            self.server.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return text + "." + url_safe(first.to_bytes(32, "big") + second.to_bytes(32, "big"))

    def answer(self, status, found):
        body = json.dumps(found).encode()
        self.send_response(status)
        if status == 401: self.send_header("WWW-Authenticate", 'Basic realm="tokens"')
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words): pass


def serve_tokens(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tokens)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder + "/server.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with open(folder + "/server.pem", "rb") as file: pem = file.read()
    server.folder, server.key = folder, serialization.load_pem_private_key(pem, None)
    server.certificate = x509.load_pem_x509_certificate(pem).public_bytes(serialization.Encoding.DER)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def start_registry(folder, token):
    """It can be told no port to print, so a free one is tried."""
    for _ in range(20):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = {
            "version": "0.1", "log": {"level": "error", "accesslog": {"disabled": True}},
            "storage": {"filesystem": {"rootdirectory": folder + "/images"}},
            "http": {"addr": f"127.0.0.1:{port}", "tls": {
                "certificate": folder + "/server.pem", "key": folder + "/server.pem"}},
            "auth": {"token": {"realm": f"https://api.example.test:{token}/token", "service": SERVICE,
                               "issuer": ISSUER, "rootcertbundle": folder + "/authority.pem"}}}
        # JSON is YAML.
        with open(folder + "/registry.yml", "w") as file: json.dump(settings, file)
        process = subprocess.Popen(["docker-registry", "serve", folder + "/registry.yml"], stdin=subprocess.DEVNULL,
                                   stdout=sys.stderr, stderr=sys.stderr)
        while process.poll() is None:
            try: socket.create_connection(("127.0.0.1", port)).close()
            except OSError: time.sleep(0.05)
            else: return process, port
    sys.exit("docker-registry does not start")


def write_image(folder):
    blobs = folder + "/blobs/sha256"
    os.makedirs(blobs)

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        with open(f"{blobs}/{digest}", "wb") as file: file.write(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": "sha256:" + digest, "size": len(data)}

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo("hello.txt")
        entry.size = 1 << 20
        archive.addfile(entry, io.BytesIO(os.urandom(entry.size)))
    layer = blob(gzip.compress(packed.getvalue(), 1), "layer.v1.tar+gzip")
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {
        "type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(packed.getvalue()).hexdigest()]}}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blob(json.dumps(config).encode(), "config.v1+json"), "layers": [layer]}
    index = {"schemaVersion": 2, "manifests": [blob(json.dumps(manifest).encode(), "manifest.v1+json")]}
    with open(folder + "/index.json", "w") as file: json.dump(index, file)
    with open(folder + "/oci-layout", "w") as file: json.dump({"imageLayoutVersion": "1.0.0"}, file)


def main(place, *words):
    if place == "image": return write_image(*words)
    folder = os.path.abspath(place)
    make_certificates(folder)
    token = serve_tokens(folder)
    process, port = start_registry(folder, token)
    print(json.dumps({"registry": port, "token": token}), flush=True)
    sys.stdin.read()
    process.kill()


if __name__ == "__main__": main(*sys.argv[1:])
