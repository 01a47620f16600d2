#!/usr/bin/env -S python3 -B
"""A pinentry without a window: it notes each question in the file `dialogs` of the home folder, and answers with the
file `answer`: yes, no, late, wait, or a passcode."""
import os, sys, time, urllib.parse

home = os.environ["HOME"]


def answer():
    try:
        with open(home + "/answer") as file: return file.read().strip()
    except FileNotFoundError: return "yes"


print("OK", flush=True)
text = ""
for line in sys.stdin:
    word, _, rest = line.rstrip("\n").partition(" ")
    if word == "SETDESC": text = urllib.parse.unquote(rest)
    if word in ("CONFIRM", "GETPIN"):
        with open(home + "/dialogs", "a") as file: file.write(word + " " + text.replace("\n", " ") + "\n")
        while answer() == "wait": time.sleep(0.05)
        if answer() == "late":
            print("ERR 83886142 Timeout", flush=True)
            continue
        if answer() == "no":
            print("ERR 83886194 Not confirmed" if word == "CONFIRM" else "ERR 83886179 Canceled", flush=True)
            continue
        if word == "GETPIN": print("D " + answer())
    print("OK", flush=True)
