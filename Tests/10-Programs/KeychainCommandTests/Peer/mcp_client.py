"""The host of an agent: it starts `keychain mcp` and speaks with it through the official client of the protocol.

    mcp_client.py TASK LOG -- COMMAND WORD…

PORTS and SECRET in the environment are those of broker_server.py. All that the server writes goes to LOG, too. The task
`raw` and those after it speak without the client, because that one sends nothing that is wrong.
"""
import asyncio, json, os, random, shlex, subprocess, sys, time

PORTS, SECRET = json.loads(os.environ["PORTS"]), os.environ["SECRET"]
API = "https://api.example.test"


def report(name, result):
    """Prints what came of a call, in words that are the same in each run."""
    texts = [part.text for part in result.content]
    whole = "".join(texts)
    words = [name]
    try: head = json.loads(texts[0])
    except ValueError: head = None
    if result.is_error or head is None:
        message = whole
        for port in PORTS.values(): message = message.replace(str(port), "PORT")
        words.append(("error: " if result.is_error else "") + message)
    else:
        words += [str(head["status"]), head["body"]]
        for key in ("secrets", "cut", "placeholder"):
            if head.get(key): words.append(f"{key}: {head[key]}")
        if "*" * len(SECRET) in whole: words.append("masked")
        if "{{" in whole or "%7B%7B" in whole: words.append("with the placeholder")
    print(" | ".join(words), flush=True)


async def requests(session):
    async def ask(name, url, **arguments):
        report(name, await session.call_tool("http_request", {"url": url, **arguments}))

    tls, narrow, plain = f"{API}:{PORTS['tls']}", f"{API}:{PORTS['other']}", f"http://api.example.test:{PORTS['plain']}"
    bearer = {"headers": {"Authorization": "Bearer {{TOKEN}}"}}
    for path in ("echo", "headers", "bytes", "chunks", "gzip", "deflate", "base64", "hex", "percent", "json", "sse"):
        await ask(path, f"{tls}/{path}", **bearer)
    await ask("basic", tls + "/echo", basic_auth={"user": "alice", "password": "{{TOKEN}}"})
    await ask("key", tls + "/echo", headers={"X-Api-Key": "{{TOKEN}}"})
    await ask("query", tls + "/echo?a=1&key={{TOKEN}}#part")
    await ask("path", tls + "/echo/{{TOKEN}}/x")
    await ask("body", tls + "/echo", method="post", body='{"t":"{{TOKEN}}"}', headers={"content-type": "application/json"})
    await ask("form", tls + "/echo", method="POST", body="a=1&t={{TOKEN}}",
              headers={"Content-Type": "application/x-www-form-urlencoded"})
    await ask("clear", plain + "/echo", headers={"Authorization": "Bearer {{PLAIN}}"})
    await ask("covered", narrow + "/allowed/x", headers={"Authorization": "Bearer {{NARROW}}"})
    # What no rule covers.
    await ask("other path", narrow + "/elsewhere", headers={"Authorization": "Bearer {{NARROW}}"})
    await ask("other method", narrow + "/allowed/x", method="POST", headers={"Authorization": "Bearer {{NARROW}}"})
    await ask("other secret", narrow + "/allowed/x", **bearer)
    await ask("other place", narrow + "/allowed/x?key={{NARROW}}")
    await ask("beside text", tls + "/echo", headers={"Authorization": "Bearer x{{TOKEN}}"})
    await ask("other host", f"https://other.example.test:{PORTS['tls']}/echo", **bearer)
    await ask("this machine", f"https://127.0.0.1:{PORTS['tls']}/echo", **bearer)
    await ask("clear text", f"http://other.example.test:{PORTS['plain']}/echo", **bearer)
    # What is no request.
    await ask("header Host", tls + "/echo", headers={"Host": "other.example.test"})
    await ask("two lines", tls + "/echo", headers={"X-A": "a\r\nAuthorization: Bearer {{TOKEN}}"})
    await ask("a file", "file:///etc/passwd")
    await ask("a user", f"https://api.example.test@127.0.0.1:{PORTS['tls']}/")
    await ask("a tunnel", tls + "/", method="CONNECT")
    await ask("unknown argument", tls + "/", follow=True)
    # Bounds.
    await ask("big", tls + "/big?size=50000000", max_bytes=1_000_000)
    await ask("usual", tls + "/big?size=65536")
    await ask("bytes of no text", tls + "/gzip?name=identity")
    await ask("late", tls + "/hang", timeout_seconds=1, **bearer)
    await ask("cut off", narrow + "/cut")
    await ask("no server", f"{API}:1/")


async def tour(session):
    initialized = session.initialize_result
    print(initialized.protocol_version, initialized.server_info.name)
    print(*[tool.name for tool in (await session.list_tools()).tools])
    names = json.loads((await session.call_tool("list_secrets", {})).content[0].text)
    for secret in names["secrets"]: print(secret["name"], secret["placeholder"], *secret["places"], sep=", ")
    print("items", *[f"{one['service']}/{one['account']}" for one in names.get("items", [])])
    await requests(session)


async def concurrent(session):
    """Many requests at once, some of which are cancelled; the others are answered."""
    count = int(os.environ["COUNT"])

    async def ask(number):
        path = ["echo", "hang", "bytes", "big?size=100000"][number % 4]
        arguments = {"url": f"{API}:{PORTS['tls']}/{path}", "headers": {"Authorization": "Bearer {{TOKEN}}"}}
        call = asyncio.create_task(session.call_tool("http_request", arguments))
        if path != "hang": return not (await call).is_error
        await asyncio.sleep(0.2)
        call.cancel()
        try: await call
        except asyncio.CancelledError: return True
        return False

    results = await asyncio.gather(*[ask(number) for number in range(count)])
    report("after", await session.call_tool("http_request", {"url": f"{API}:{PORTS['tls']}/echo"}))
    print(len(results), set(results))


async def ask(session):
    """A person says yes or no, as the file `answer` has it."""
    url = f"{API}:{PORTS['tls']}/echo"
    for _ in range(2):
        report("asked", await session.call_tool(
            "http_request", {"url": url, "headers": {"Authorization": "Bearer {{TOKEN}}"}}))


async def late(session):
    """Nobody answers before the request is over, and then somebody says yes."""
    url = f"{API}:{PORTS['tls']}/echo"
    secret = {"headers": {"Authorization": "Bearer {{TOKEN}}"}}
    with open("answer", "w") as file: file.write("wait")
    call = asyncio.create_task(session.call_tool("http_request", {"url": url + "/late", "timeout_seconds": 1, **secret}))
    while not os.path.exists("dialogs"): await asyncio.sleep(0.05)
    await asyncio.sleep(1.5)
    with open("answer", "w") as file: file.write("code")
    report("late", await call)
    report("then", await session.call_tool("http_request", {"url": url, **secret}))


async def create(session):
    for arguments in (
        {"service": "db", "account": "app"}, {"service": "db", "account": "app"}, {"service": "api", "account": "token"},
        {"service": "db", "account": "words", "words": 6}, {"service": "db", "account": "plain", "length": 30,
                                                            "no_symbols": True},
        {"service": "db", "account": "short", "length": 4}, {"service": "db"}, {"service": "db", "account": 1},
    ):
        result = await session.call_tool("create_password", arguments)
        print("error:" if result.is_error else "made:", result.content[0].text)


def official(task, log, command):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    async def main():
        line = f"{shlex.join(command)} 2> {log}.err | tee {log}"
        server = StdioServerParameters(command="/bin/sh", args=["-c", line], env=dict(os.environ))
        async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
            await session.initialize()
            await task(session)

    asyncio.run(main())


# Without the client

class Host:
    def __init__(self, log, command):
        self.log = open(log, "wb")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else json.dumps(data).encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        self.log.write(line)
        self.log.flush()
        return json.loads(line)

    def ask(self, data):
        self.send(data)
        return self.read()

    def begin(self, revision="2025-06-18"):
        return self.ask(request(0, "initialize", protocolVersion=revision, capabilities={}))

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.log.write(rest)
        return self.process.wait()


def request(id, method, **parameters):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}


def short(answer):
    if isinstance(answer, list): return [short(one) for one in answer]
    error = answer.get("error")
    return (answer["id"], error["code"]) if error else (answer["id"], "result")


def raw(log, command):
    host = Host(log, command)
    print(short(host.ask(request(1, "tools/list"))), short(host.ask(request(2, "ping"))))
    print(host.begin("1999-01-01")["result"]["protocolVersion"], short(host.begin()))
    for line in (b"nonsense", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1', b"[" * 100_000, b"x" * (5 << 20), b"3", b"[]", b"[1]",
                 b'{"id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"jsonrpc":"2.0","id":[1],"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":1,"method":2}', b'{"jsonrpc":"2.0","id":1,"method":"no"}',
                 b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
                 json.dumps(request("a", "tools/call", name="no")).encode(),
                 json.dumps(request("b", "tools/call", name="list_secrets", arguments=[])).encode(),
                 json.dumps(request(1.5, "tools/list", cursor="x")).encode(),
                 json.dumps(request("c", "tools/call", name="list_secrets", arguments={"x": 1})).encode()):
        print(short(host.ask(line)))
    # Neither of them is answered: the next answer is that of the request behind them.
    for line in (b"", b" \r", b'{"jsonrpc":"2.0","method":"no"}', b'{"jsonrpc":"2.0","id":1,"result":{}}',
                 b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}'):
        host.send(line)
    print(short(host.ask(request("last", "ping"))), host.end())
    host = Host(log + ".batch", command)
    host.begin("2025-03-26")
    batch = [request(1, "ping"), {"jsonrpc": "2.0", "method": "notifications/initialized"}, 4, request(2, "tools/list"),
             request(3, "tools/call", name="list_secrets", arguments={})]
    print(sorted(map(str, short(host.ask(batch)))), short(host.ask(b"[]")))
    host.send([{"jsonrpc": "2.0", "method": "notifications/initialized"}])
    print(short(host.ask(request("last", "ping"))), host.end())


def begun(log, command):
    """Returns a host, one request of which is answered and one of which hangs, and the process of the broker."""
    host = Host(log, command)
    host.begin()
    url = f"{API}:{PORTS['tls']}/"
    host.ask(request(1, "tools/call", name="http_request", arguments={"url": url + "echo"}))
    host.send(request(2, "tools/call", name="http_request", arguments={"url": url + "hang"}))
    found = subprocess.run(
        ["pgrep", "-x", "keychain-broker", "-P", str(host.process.pid)], capture_output=True, text=True).stdout
    return host, int(found)


def ended(broker):
    for _ in range(200):
        if not is_running(broker): return "broker ended"
        time.sleep(0.05)
    return "broker stays"


def is_running(number):
    try: return open(f"/proc/{number}/stat").read().rsplit(") ", 1)[1][0] != "Z"
    except OSError: return False


def kill(log, command):
    """Kills it in the middle of a request."""
    host, broker = begun(log, command)
    host.process.kill()
    print(ended(broker), host.process.wait())


def end(log, command):
    """The end of its input ends it, and its broker, in the middle of a request."""
    host, broker = begun(log, command)
    print(host.end(), ended(broker))


def broker(log, command):
    """Kills the broker in the middle of a request."""
    host, process = begun(log, command)
    os.kill(process, 9)
    for answer in (host.read(), host.ask(request(3, "tools/call", name="http_request", arguments={"url": API}))):
        print(answer["id"], answer["result"]["content"][0]["text"])
    print(short(host.ask(request(4, "tools/call", name="list_secrets"))), host.end())


def fuzz(log, command):
    """Random lines. Each one with a request is answered, and honest requests between them, too."""
    count, seed = int(os.environ["COUNT"]), int(os.environ["SEED"])
    generator = random.Random(seed)
    host = Host(log, command)
    host.begin(generator.choice(["2024-11-05", "2025-03-26", "2025-06-18"]))
    url = f"{API}:{PORTS['tls']}/"
    values = ["{{TOKEN}}", "Bearer {{TOKEN}}", url, url + "{{TOKEN}}", "https://other.example.test/", "\0", "\ud800", "é" * 50, "", 0,
              -1, 1e300, 2**70, None, True, [], {}, [[[]]], {"a": {"b": []}}, "http://[::1]/", "Authorization", "GET", "\r\nX: y"]
    names = ["url", "method", "headers", "body", "body_base64", "basic_auth", "max_bytes", "timeout_seconds", "user", "password",
             "service", "account", "x"]

    def value(depth=0):
        if depth < 3 and generator.random() < 0.3:
            return {generator.choice(names): value(depth + 1) for _ in range(generator.randrange(4))}
        return generator.choice(values)

    for number in range(count):
        arguments = {generator.choice(names): value() for _ in range(generator.randrange(5))}
        if generator.random() < 0.5: arguments["url"] = generator.choice([url, url + "echo?{{TOKEN}}", value()])
        message = request(number, generator.choice(["tools/call", "tools/call", "tools/list", "ping", "initialize", "x"]),
                          name=generator.choice(["http_request", "list_secrets", "x"]), arguments=arguments)
        line = bytearray(json.dumps(message).encode())
        kind = generator.randrange(3)
        if kind == 1:
            for _ in range(generator.randrange(1, 6)):
                line[generator.randrange(len(line))] = generator.choice(b'{}[]",:0ax\\\xff\x00')
        elif kind == 2:
            line = bytearray(generator.randbytes(generator.randrange(200)))
        line = bytes(line).replace(b"\n", b" ").replace(b"\r", b" ")
        host.send(line)
        host.send(request(f"after {number}", "ping"))
        while True:
            answer = host.read()
            if isinstance(answer, dict) and answer.get("id") == f"after {number}": break
    host.send(request("honest", "tools/call", name="http_request", arguments={
        "url": url + "echo", "headers": {"Authorization": "Bearer {{TOKEN}}"}}))
    while isinstance(answer := host.read(), list) or answer["id"] != "honest": pass
    print("secrets" if '"secrets":["TOKEN"]' in answer["result"]["content"][0]["text"].replace("\\", "") else answer, host.end())


def main(task, log, _, *command):
    tasks = {"tour": tour, "concurrent": concurrent, "ask": ask, "late": late, "create": create}
    if task in tasks: official(tasks[task], log, command)
    else: {"raw": raw, "kill": kill, "end": end, "broker": broker, "fuzz": fuzz}[task](log, command)


if __name__ == "__main__": main(*sys.argv[1:])
