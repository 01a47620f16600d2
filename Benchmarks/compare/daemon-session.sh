#!/bin/bash
# Runs a command against the Secret Service of a keychaind, on a socket of its own.
#
#   daemon-session.sh FOLDER KEYCHAIN COMMAND...
#
# KEYCHAIN is the program; FOLDER/vault becomes the daemon's vault.
set -euo pipefail
folder=$1 keychain=$2
shift 2
export KEYCHAIN_SOCKET="$folder/run/socket" DBUS_SESSION_BUS_ADDRESS="unix:path=$folder/run/bus"
unset KEYCHAIN_HOME
# The command may list the items that `keychain import` has stored.
printf '{"version": 1, "rules": [{"uid": %d, "groups": ["secret-service"], "rights": ["list"]}]}' "$(id -u)" \
    >"$folder/entitlements.json"
(exec -a keychaind "$keychain" --socket "$KEYCHAIN_SOCKET" --home "$folder/vault" \
    --entitlements "$folder/entitlements.json" --no-lock-signals --secret-service 2>/dev/null) &
daemon=$!
trap 'kill $daemon; wait $daemon' EXIT
until "$keychain" list >/dev/null 2>&1; do sleep 0.05; done
"$@"
