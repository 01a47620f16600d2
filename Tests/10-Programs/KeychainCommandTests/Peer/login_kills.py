"""Has processes refresh one login, and kills processes of the keychain.

    login_kills.py ROUNDS SEED

In each round, some `keychain token NAME --refresh` run at once, and after a random time one of all processes of the
keychain that have this HOME is killed: the command, the one that refreshes, or the broker. Those that were not killed
have to get a token, or to say that a request has no answer. It prints a line with how many of each kind it killed.
"""
import collections, os, random, signal, subprocess, sys, time

ROUNDS, RANDOM = int(sys.argv[1]), random.Random(int(sys.argv[2]))
HOME = os.environ["HOME"].encode()
KILLED = collections.Counter()


def processes():
    """The processes of the keychain here, with their kinds."""
    for name in os.listdir("/proc"):
        if not name.isdigit(): continue
        try:
            words = open(f"/proc/{name}/cmdline", "rb").read().split(b"\0")
            if os.path.basename(os.readlink(f"/proc/{name}/exe")) not in ("keychain", "keychain-broker"): continue
            # Another user's, or one that hides its memory, is readable for root alone: those here are children.
            if b"HOME=" + HOME not in open(f"/proc/{name}/environ", "rb").read().split(b"\0"): continue
        except OSError: continue
        kind = "broker" if b"--link" in words else "keeper" if b"token-keeper" in words else "command"
        if kind == "command" and b"token" not in words: continue
        yield int(name), kind


for _ in range(ROUNDS):
    running = [subprocess.Popen(["keychain", "token", "work", "--refresh"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for _ in range(RANDOM.randint(1, 3))]
    kind = RANDOM.choice(["command", "keeper", "broker"])
    deadline = time.monotonic() + 20
    time.sleep(RANDOM.uniform(0, 0.25))
    while time.monotonic() < deadline and any(one.poll() is None for one in running):
        there = [number for number, one in processes() if one == kind]
        if there:
            try: os.kill(RANDOM.choice(there), signal.SIGKILL)
            except ProcessLookupError: continue
            KILLED[kind] += 1
            break
    for one in running:
        text, errors = one.communicate(timeout=200)
        if one.returncode == 0 and text.count(".") == 2: continue
        if one.returncode == -signal.SIGKILL: continue
        if "ended, or does not answer" in errors or "ended or does not answer" in errors: continue
        if "cannot begin" in errors or "did not begin" in errors: continue
        sys.exit(f"{one.returncode}: {text}{errors}")
print(dict(KILLED), sum(KILLED.values()) * 3 > ROUNDS)
if len(KILLED) < 3: sys.exit("one kind was never killed")
