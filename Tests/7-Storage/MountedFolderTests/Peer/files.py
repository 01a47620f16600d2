#!/usr/bin/env python3
"""Works in a mount for a test: runs the Python that comes in lines of JSON, and answers each with what it printed.

The test itself has nothing in the mount open. A child that another test starts at the same moment would inherit it, and
closing it there may take as long as writing what was written to it, or keep the mount in use.
"""
import base64
import contextlib
import errno
import io
import json
import os
import sys
import threading
import time
import traceback


def attempt(work):
    """What comes of it; the negative number of an error."""
    try:
        result = work()
        return 0 if result is None else result
    except OSError as error:
        return -error.errno


def begin_synchronizing(descriptor):
    numbers = []

    def synchronize():
        numbers.append(threading.get_native_id())
        attempt(lambda: os.fsync(descriptor))

    space["synchronizing"] = threading.Thread(target=synchronize, daemon=True)
    space["synchronizing"].start()
    # fsync on x86-64 and on arm64 (proc_pid_syscall(5)).
    while not numbers or open(f"/proc/self/task/{numbers[0]}/syscall").read().split()[0] not in ("74", "82"):
        time.sleep(0.001)
    # Requests are taken in turn: that one has been when this one is answered.
    os.fstatvfs(descriptor)


space = {"attempt": attempt, "base64": base64, "errno": errno, "os": os, "begin_synchronizing": begin_synchronizing}
for line in sys.stdin:
    request = json.loads(line)
    output, problem = io.StringIO(), None
    try:
        os.chdir(request["folder"])
        with contextlib.redirect_stdout(output):
            exec(request["script"], space)
    except BaseException:
        problem = traceback.format_exc()
    # A folder that is somebody's keeps the mount in use.
    os.chdir("/")
    print(json.dumps({"text": output.getvalue(), "problem": problem}), flush=True)
