"""Runs a command at a terminal of its own, and types a line at each prompt that begins with the given word.

    typist.py WORD LINE COMMAND…

Prints what the terminal showed, and ends with the command's exit status.
"""

import os
import pty
import sys

word, line, *command = sys.argv[1:]
process, terminal = pty.fork()
if process == 0:
    os.execvp(command[0], command)
shown, answered = b"", 0
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part
    while shown.count(word.encode()) > answered:
        answered += 1
        os.write(terminal, line.encode() + b"\n")
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
