"""Programs that use a secret through the broker and keep all that they receive.

    broker_clients.py HOST:PORT FILE

It runs under `keychain run --broker`, with a placeholder in TOKEN. It prints a line for each client that was let in by
the server, then `kept` with the number of its process, and waits until there is such a file: time to search its memory.
"""
import base64, os, subprocess, sys, time, urllib.request
import httpx, requests

SERVER, TOKEN = sys.argv[1], os.environ["TOKEN"]
KEPT = []
ECHOES = ["echo", "headers", "bytes", "chunks", "chunks?seed=3", "gzip", "deflate", "base64", "percent", "json", "hex", "sse"]


def url(path): return f"https://{SERVER}/{path}"


def with_urllib(path, headers):
    with urllib.request.urlopen(urllib.request.Request(url(path), headers=headers)) as answer:
        return answer.status, str(answer.headers).encode() + answer.read()


def with_requests(path, headers):
    answer = requests.get(url(path), headers=headers)
    return answer.status_code, str(answer.headers).encode() + answer.content


def with_httpx(path, headers):
    answer = httpx.get(url(path), headers=headers)
    return answer.status_code, str(answer.headers).encode() + answer.content


def with_curl(path, headers):
    words = [word for pair in headers.items() for word in ("-H", "%s: %s" % pair)]
    done = subprocess.run(
        ["curl", "-sS", "--compressed", "-i", "-N", "-w", "%{http_code}", *words, url(path)], capture_output=True)
    return int(done.stdout[-3:] or 0), done.stdout


CLIENTS = [with_urllib, with_requests, with_httpx, with_curl]
basic = "Basic " + base64.b64encode(f"alice:{TOKEN}".encode()).decode()
for client in CLIENTS:
    status, body = client("basic", {"Authorization": basic})
    assert status == 200, (client.__name__, status, body)
    KEPT.append(body)
    for path in ECHOES:
        status, body = client(path, {"Authorization": f"Bearer {TOKEN}"})
        assert status == 200, (client.__name__, path, status, body)
        KEPT.append(body)
    assert any(b"********" in body for body in KEPT)
    print(client.__name__, "was let in", flush=True)
print("kept", os.getpid(), flush=True)
while not os.path.exists(sys.argv[2]): time.sleep(0.05)
