#!/usr/bin/env bash
# msmtp, which sends mail: it takes the password of the mail server from the Secret Service.
. "$(dirname "$0")/lib.sh"
takes socket bus
needs msmtp command -v msmtp
needs libsecret-tools command -v secret-tool
needs dbus-daemon command -v dbus-daemon
begin

# A mail server that wants the password `swordfish`. It writes each sign-in and each mail to the file `seen`.
cat >server.py <<'END'
import base64
import socketserver


def note(text):
    print(text, file=open('seen', 'a'), flush=True)


class Handler(socketserver.StreamRequestHandler):
    def say(self, line):
        self.wfile.write((line + '\r\n').encode())

    def handle(self):
        self.say('220 here ESMTP')
        while line := self.rfile.readline().decode().strip():
            word = line.split()[0].upper()
            if word == 'EHLO':
                self.say('250-here')
                self.say('250 AUTH PLAIN')
            elif word == 'AUTH':
                user, password = base64.b64decode(line.split()[2]).decode().split('\0')[1:]
                note(user + ':' + password)
                self.say('235 ok' if (user, password) == ('alice', 'swordfish') else '535 no')
            elif word == 'DATA':
                self.say('354 go')
                while self.rfile.readline() not in (b'.\r\n', b''):
                    pass
                note('mail')
                self.say('250 taken')
            elif word == 'QUIT':
                self.say('221 bye')
                return
            else:
                self.say('250 ok')


server = socketserver.ThreadingTCPServer(('127.0.0.1', 0), Handler)
print(server.server_address[1], file=open('port', 'w'), flush=True)
server.serve_forever()
END
touch seen
serve_python server.py
open_vault

cat >"$HOME/.msmtprc" <<END
account default
host localhost
port $port
auth plain
tls off
from a@example.org
user alice
END

# Sends a mail. There is no terminal at which msmtp could ask.
send() {
    printf 'Subject: x\n\nhello\n' | timeout $patience setsid --wait msmtp b@example.org 2>>msmtp.log
}

send
check 'without a password nothing is sent' "$(cat seen)" ''
printf swordfish | secret-tool store --label='msmtp password' host localhost service smtp user alice
send
check 'status of msmtp' $? 0
check 'the server got password and mail' "$(paste -sd' ' seen)" 'alice:swordfish mail'

lock
before=$(wc -l <seen)
send
check 'msmtp fails while the vault is locked' "$(($? != 0))" 1
check 'the server got nothing more' "$(wc -l <seen)" "$before"
unlock
send
check 'msmtp sends after the unlock' $? 0
finish
