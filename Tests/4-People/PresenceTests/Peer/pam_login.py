"""Logs a user in with a service of PAM, and the password from standard input; ends with 0 if PAM agrees.

    pam_login.py SERVICE USER FOLDER    FOLDER has the file of the service
"""

import ctypes
import sys


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


Messages = ctypes.POINTER(ctypes.POINTER(Message))
Responses = ctypes.POINTER(ctypes.POINTER(Response))
Talk = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, Messages, Responses, ctypes.c_void_p)
PROMPT_WITHOUT_ECHO = 1


class Conversation(ctypes.Structure):
    _fields_ = [("talk", Talk), ("data", ctypes.c_void_p)]


libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.strdup.restype = ctypes.c_void_p
pam = ctypes.CDLL("libpam.so.0")
service, user, folder = (argument.encode() for argument in sys.argv[1:4])
password = sys.stdin.buffer.read()


@Talk
def answer(count, messages, responses, _):
    # PAM frees the answers.
    block = libc.calloc(count, ctypes.sizeof(Response))
    answers = ctypes.cast(block, ctypes.POINTER(Response))
    for index in range(count):
        if messages[index].contents.style == PROMPT_WITHOUT_ECHO:
            answers[index].text = libc.strdup(password)
    responses[0] = answers
    return 0


handle = ctypes.c_void_p()
conversation = Conversation(answer, None)
status = pam.pam_start_confdir(service, user, ctypes.byref(conversation), folder, ctypes.byref(handle))
if status == 0:
    status = pam.pam_authenticate(handle, 0)
    pam.pam_end(handle, status)
sys.exit(0 if status == 0 else 1)
