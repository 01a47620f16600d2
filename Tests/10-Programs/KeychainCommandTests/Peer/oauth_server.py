"""An authorization server with rotating refresh tokens, and a server that takes its access tokens. oauthlib does the
protocol (RFC 6749), and this the tokens.

    oauth_server.py FOLDER

It makes an authority, FOLDER/authority.pem, and prints its ports as one line of JSON: `tls` for api.example.test, and
`other` for other.example.test, which nobody may send a token to. It ends with its input. `oauthlib` has to be in
PYTHONPATH, and broker_server.py beside this file.

    POST /token     gives tokens; FOLDER/first has the first refresh token of the client `public`, and FOLDER/second that
                    of the client `secret client`, whose secret is `a secret: 100% &=+`
    POST /device    gives codes for a log-in (RFC 8628). FOLDER/answer says what the person does: pending, denied, expired or
                    allowed; each question at /token is a line of FOLDER/asked
    GET  /api       200 for an access token that is good, else 401; /echo answers with what it got
    POST /api       the same

Each request for a token is a line of FOLDER/tokens.jsonl, also of `other`. FOLDER/issued has each refresh token and each access token
that was given, one a line. FOLDER/settings is read for each request, JSON with

    mode      ok; 500; garbage; empty (JSON without a token); html; redirect; huge; cut (gives tokens, and ends the
              connection instead of an answer); error NAME; repeat (an error that repeats the refresh token);
              odd (gives tokens, and writes the refresh token with a letter that is not ASCII); created (gives tokens
              with the status 201, and an error that is an object)
    before    seconds before the request is looked at
    late      seconds between the tokens and the answer
    held      whether an answer with tokens waits
    lifetime  of access tokens, in seconds
    rotates   whether there is a new refresh token
    strict    whether a refresh token that has a successor ends the login; otherwise one whose successor was used does
              (RFC 9700, 4.14.2)
    format    jwt or opaque
    silent    whether expires_in is left out
    refuses   whether /api answers 401 to all
"""
import base64, http.server, json, os, secrets, ssl, sys, threading, time, urllib.parse
import oauthlib.oauth2
from oauthlib.oauth2.rfc6749.endpoints.token import TokenEndpoint
from oauthlib.oauth2.rfc6749.grant_types import RefreshTokenGrant
from oauthlib.oauth2.rfc6749.tokens import BearerToken
from oauthlib.oauth2.rfc8628.endpoints.device_authorization import DeviceAuthorizationEndpoint
from oauthlib.oauth2.rfc8628.grant_types import DeviceCodeGrant
import broker_server

FOLDER = sys.argv[1]
DEFAULTS = {"mode": "ok", "before": 0, "late": 0, "held": False, "lifetime": 3600, "rotates": True, "strict": False, "format": "jwt",
            "silent": False, "refuses": False}
CLIENTS = {"public": None, "secret client": "a secret: 100% &=+"}


def settings():
    try:
        with open(FOLDER + "/settings") as file: return DEFAULTS | json.load(file)
    except FileNotFoundError: return DEFAULTS


class Log:
    def __init__(self, name):
        self.lock, self.file = threading.Lock(), open(FOLDER + "/" + name, "a")

    def add(self, line):
        with self.lock:
            self.file.write(line + "\n")
            self.file.flush()


class Refresh:
    """A refresh token. A login is a chain of them."""

    def __init__(self, client, login):
        self.client, self.login, self.successors, self.is_used = client, login, [], False


class Tokens(oauthlib.oauth2.RequestValidator):
    def __init__(self):
        self.lock, self.refresh, self.access, self.ended = threading.RLock(), {}, {}, set()
        self.codes, self.asked = {}, Log("asked")
        self.issued = Log("issued")

    def first(self, client):
        text = "refresh-" + secrets.token_urlsafe(32)
        self.refresh[text] = Refresh(client, secrets.token_hex(8))
        self.issued.add(text)
        return text

    def new_refresh(self, request, **_): return "refresh-" + secrets.token_urlsafe(32)

    def new_access(self, request, **_):
        if settings()["format"] == "opaque": return "ya29." + secrets.token_urlsafe(40)
        def part(value): return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
        return ".".join([part({"alg": "RS256", "typ": "JWT", "kid": "1"}),
                         part({"sub": "alice", "jti": secrets.token_hex(16), "iat": int(time.time())}),
                         secrets.token_urlsafe(64)])

    # oauthlib's questions

    def client_authentication_required(self, request, *_):
        return self.name(request) is None or CLIENTS.get(self.name(request), "") is not None

    def name(self, request): return self.basic(request)[0] if self.basic(request) else request.client_id

    def basic(self, request):
        text = {key.lower(): value for key, value in request.headers.items()}.get("authorization", "")
        if not text.lower().startswith("basic "): return None
        name, _, secret = base64.b64decode(text[6:]).decode().partition(":")
        return urllib.parse.unquote_plus(name), urllib.parse.unquote_plus(secret)

    def authenticate_client(self, request, *_):
        name, secret = self.basic(request) or (request.client_id, request.client_secret)
        if name not in CLIENTS or CLIENTS[name] is None or CLIENTS[name] != secret: return False
        request.client, request.client_id = oauthlib.common.Request("/"), name
        request.client.client_id = name
        return True

    def authenticate_client_id(self, client_id, request, *_):
        if client_id not in CLIENTS or CLIENTS[client_id] is not None: return False
        request.client = oauthlib.common.Request("/")
        request.client.client_id = client_id
        return True

    def validate_grant_type(self, *_): return True
    def get_original_scopes(self, *_): return ["read", "write"]
    def is_within_original_scope(self, *_): return False

    def validate_refresh_token(self, text, client, request, *_):
        token = self.refresh.get(text)
        request.outcome = "unknown"
        if token is None or token.client != client.client_id: return False
        request.outcome = "ended"
        if token.login in self.ended: return False
        if any(settings()["strict"] or self.refresh[one].is_used for one in token.successors):
            # Somebody has a copy.
            self.ended.add(token.login)
            request.outcome = "reuse"
            return False
        request.outcome = "granted"
        token.is_used = True
        request.chain = token
        return True

    def validate_client_id(self, client_id, *_): return client_id in CLIENTS
    def validate_scopes(self, *_): return True
    def get_default_scopes(self, *_): return ["read"]

    def validate_device_code(self, client_id, code, request):
        try:
            with open(FOLDER + "/answer") as file: answer = file.read().strip()
        except FileNotFoundError: answer = "pending"
        self.asked.add(f"{client_id} {answer} {code in self.codes}")
        if code not in self.codes: return None
        request.user, request.scopes = "alice", ["read"]
        request.chain = Refresh(client_id, secrets.token_hex(8))
        return {"pending": DeviceCodeGrant.DEVICE_CODE_PENDING, "slow": DeviceCodeGrant.DEVICE_CODE_SLOW_DOWN,
                "denied": DeviceCodeGrant.DEVICE_CODE_DENIED, "expired": DeviceCodeGrant.DEVICE_CODE_EXPIRED,
                "allowed": DeviceCodeGrant.DEVICE_CODE_AUTHORIZED}[answer]

    def rotate_refresh_token(self, request): return settings()["rotates"]

    def save_bearer_token(self, token, request, *_):
        now = time.time()
        if "expires_in" in token:
            token["expires_in"] = settings()["lifetime"]
        if settings()["silent"]: token.pop("expires_in", None)
        self.access[token["access_token"]] = (request.chain.login, now + settings()["lifetime"])
        self.issued.add(token["access_token"])
        text = token.get("refresh_token")
        if text and text != request.refresh_token:
            request.chain.successors.append(text)
            self.refresh[text] = Refresh(request.client.client_id, request.chain.login)
            self.issued.add(text)

    def save_token(self, token, request, *_): return self.save_bearer_token(token, request)

    def is_good(self, text):
        with self.lock:
            login, end = self.access.get(text, (None, 0))
            return login is not None and login not in self.ended and time.time() < end


TOKENS = Tokens()
BEARER = BearerToken(TOKENS, token_generator=TOKENS.new_access, refresh_token_generator=TOKENS.new_refresh)
ENDPOINT = TokenEndpoint("refresh_token", BEARER, {"refresh_token": RefreshTokenGrant(TOKENS)})
REQUESTS = Log("tokens.jsonl")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_): pass

    def answer(self, status, body, headers={}):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items(): self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self): return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_GET(self): self.resource(b"")

    def do_POST(self):
        body = self.body()
        if self.path == "/device": return self.device(body.decode())
        if self.path != "/token": return self.resource(body)
        if b"device_code" in body: return self.granted(body.decode())
        self.token(body.decode())

    def resource(self, body):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if settings()["refuses"] or scheme.lower() != "bearer" or not TOKENS.is_good(token):
            return self.answer(401, {"error": "invalid_token"}, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
        self.answer(200, {"user": "alice", "token": token if self.path == "/echo" else None})

    def token(self, body):
        now, mode = time.time(), settings()["mode"]
        form = dict(urllib.parse.parse_qsl(body))
        line = {"port": self.server.name, "client": form.get("client_id"), "scope": form.get("scope"), "mode": mode,
                "basic": "Authorization" in self.headers}
        time.sleep(settings()["before"])
        if self.server.name != "tls": return self.end(line, "elsewhere", 200, {})
        if mode == "500": return self.end(line, "none", 500, {"error": "server_error"})
        if mode == "html": return self.end(line, "none", 403, b"<html>nothing</html>", {"Content-Type": "text/html"})
        if mode == "garbage": return self.end(line, "none", 200, os.urandom(500))
        if mode == "empty": return self.end(line, "none", 200, {})
        if mode == "huge": return self.end(line, "none", 200, b'{"a":"' + b"x" * (8 << 20) + b'"}')
        if mode == "redirect":
            place = f"https://other.example.test:{OTHER.server_port}/token"
            return self.end(line, "none", 307, {}, {"Location": place})
        if mode.startswith("error "): return self.end(line, "none", 400, {"error": mode[6:]})
        if mode == "repeat":
            text = "what is " + form["refresh_token"]
            return self.end(line, "none", 400, {"error": "invalid_request", "error_description": text})
        with TOKENS.lock:
            request = {}
            original = TOKENS.validate_refresh_token
            def noting(text, client, oauth_request, *rest):
                result = original(text, client, oauth_request, *rest)
                request["outcome"] = oauth_request.outcome
                return result
            TOKENS.validate_refresh_token = noting
            try:
                headers, answer, status = ENDPOINT.create_token_response(
                    f"https://api.example.test:{self.server.server_port}/token", "POST", body, dict(self.headers))
            finally: del TOKENS.validate_refresh_token
        line["seconds"] = time.time() - now
        REQUESTS.add(json.dumps(line | {"outcome": request.get("outcome", "refused"), "status": status}))
        time.sleep(settings()["late"])
        while settings()["held"]: time.sleep(0.05)
        if mode == "odd": answer = json.dumps(json.loads(answer) | {"refresh_token": "R-\u00e9"})
        if mode == "created": status, answer = 201, json.dumps(json.loads(answer) | {"error": {"code": 0}})
        if mode == "cut":
            self.close_connection = True
            return self.connection.close()
        try: self.answer(status, answer.encode(), headers)
        except OSError: self.close_connection = True

    def device(self, body):
        endpoint = DeviceAuthorizationEndpoint(
            TOKENS, f"https://api.example.test:{self.server.server_port}/activate", interval=1, expires_in=60,
            user_code_generator=lambda: "WDJB-MJHT")
        headers, answer, status = endpoint.create_device_authorization_response(
            f"https://api.example.test:{self.server.server_port}/device", "POST", body, dict(self.headers))
        if isinstance(answer, dict): TOKENS.codes[answer["device_code"]] = True
        self.answer(status, answer if isinstance(answer, dict) else answer.encode(), headers)

    def granted(self, body):
        request = oauthlib.common.Request(
            f"https://api.example.test:{self.server.server_port}/token", "POST", body, dict(self.headers))
        with TOKENS.lock:
            headers, answer, status = DeviceCodeGrant(TOKENS).create_token_response(request, BEARER)
        self.answer(status, answer.encode(), headers)

    def end(self, line, outcome, status, body, headers={}):
        REQUESTS.add(json.dumps(line | {"outcome": outcome, "status": status}))
        try: self.answer(status, body, headers)
        except OSError: self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 512

    def __init__(self, name, context):
        self.name, self.context = name, context
        super().__init__(("127.0.0.1", 0), Handler)

    def finish_request(self, request, address):
        try:
            request.settimeout(60)
            with self.context.wrap_socket(request, server_side=True) as secure: super().finish_request(secure, address)
        except OSError: pass

    def handle_error(self, request, address): pass


broker_server.make_certificates(FOLDER)
CONTEXT = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
CONTEXT.load_cert_chain(FOLDER + "/server.pem")
MAIN, OTHER = Server("tls", CONTEXT), Server("other", CONTEXT)
for server in (MAIN, OTHER): threading.Thread(target=server.serve_forever, daemon=True).start()
for name, client in (("first", "public"), ("second", "secret client")):
    with open(FOLDER + "/" + name, "w") as file: file.write(TOKENS.first(client))
print(json.dumps({"tls": MAIN.server_port, "other": OTHER.server_port}), flush=True)
sys.stdin.read()
