#!/bin/bash
# Makes a password store with one entry, `com.example.service-0/user-0@example.com`, under a key without
# a passphrase.
#
#   pass-store.sh FOLDER
set -euo pipefail
export GNUPGHOME="$1/gnupg" PASSWORD_STORE_DIR="$1/store"
mkdir -p "$GNUPGHOME"
chmod 700 "$GNUPGHOME"
gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-generate-key benchmark default default never
pass init benchmark >/dev/null
printf '%032d\n' 0 | pass insert -e com.example.service-0/user-0@example.com >/dev/null
