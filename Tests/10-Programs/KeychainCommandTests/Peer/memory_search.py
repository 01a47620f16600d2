"""Searches the memory of a process, and its environment, for text in a file and for the Base64 of it.

    memory_search.py PROCESS FILE

Prints how many bytes were searched, or where the text is.
"""
import base64, re, sys

process, text = sys.argv[1], open(sys.argv[2], "rb").read()
forms = [text] + [base64.b64encode(b"x" * shift + text)[4:-4] for shift in range(3)]
searched = 0
for place in ("environ", "cmdline"):
    with open(f"/proc/{process}/{place}", "rb") as file:
        assert text not in file.read(), place
with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", 0) as memory:
    for line in maps:
        begin, end, rights = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line).groups()
        if "r" not in rights or "[v" in line: continue
        try:
            memory.seek(int(begin, 16))
            bytes = memory.read(int(end, 16) - int(begin, 16))
        except (OSError, OverflowError): continue
        searched += len(bytes)
        for form in forms: assert form not in bytes, line
assert searched > 1 << 20, searched
print("nothing in", searched >> 20, "MiB")
