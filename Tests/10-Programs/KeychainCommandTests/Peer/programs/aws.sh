#!/usr/bin/env bash
# The command line of AWS, with `keychain aws` as its credential process.
. "$(dirname "$0")/lib.sh"
takes embedded socket
# In a pyenv, `aws` may be a program that needs the real HOME.
aws=/usr/bin/aws
needs awscli test -x "$aws"
begin

# A service that knows one access key. It writes the key and the token of each request to the file `seen`.
cat >server.py <<'END'
import http.server
import re

IDENTITY = b'''<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::1:user/alice</Arn><UserId>U</UserId><Account>1</Account>
</GetCallerIdentityResult></GetCallerIdentityResponse>'''
REFUSAL = b'<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>no</Message></Error></ErrorResponse>'


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        found = re.search('Credential=([^/]+)/', self.headers.get('Authorization', ''))
        key = found[1] if found else '-'
        print(key, self.headers.get('X-Amz-Security-Token', '-'), file=open('seen', 'a'), flush=True)
        body = IDENTITY if key == 'AKIAEXAMPLE' else REFUSAL
        self.send_response(200 if body is IDENTITY else 403)
        self.send_header('Content-Type', 'text/xml')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
print(server.server_address[1], file=open('port', 'w'), flush=True)
server.serve_forever()
END
touch seen
serve_python server.py
open_vault

unset "${!AWS_@}"
export AWS_EC2_METADATA_DISABLED=true AWS_DEFAULT_REGION=us-east-1 AWS_PAGER= AWS_MAX_ATTEMPTS=1
mkdir "$HOME/.aws"
cat >"$HOME/.aws/config" <<'END'
[default]
credential_process = keychain aws default
END

# Prints the name of the user whose key it is.
identity() {
    timeout $patience "$aws" --endpoint-url "http://127.0.0.1:$port" sts get-caller-identity --query Arn --output text \
        2>>aws.log </dev/null
}

check 'without a key there is no identity' "$(identity)" ''
check 'the service got no request' "$(cat seen)" ''
echo swordfish | keychain set aws default --attribute access-key-id=AKIAEXAMPLE
check 'the service knows the key' "$(identity)" arn:aws:iam::1:user/alice
check 'the key arrived' "$(cat seen)" 'AKIAEXAMPLE -'

# Without a daemon nothing keeps the vault unlocked after `keychain unlock`.
if [[ $place != embedded ]]; then
    lock
    check 'while the vault is locked there is no identity' "$(identity)" ''
    unlock
    check 'after the unlock the service knows the key again' "$(identity)" arn:aws:iam::1:user/alice
fi
finish
