#!/bin/bash
# Runs a command against an unlocked gnome-keyring on a bus of its own.
#
#   secret-session.sh FOLDER COMMAND...
#
# FOLDER becomes the home folder; a keyring in FOLDER/.local/share/keyrings/login.keyring is used.
set -euo pipefail

if [ "${1:-}" != --inside ]; then
    export HOME="$1" XDG_RUNTIME_DIR="$1/run" XDG_DATA_HOME="$1/.local/share"
    shift
    mkdir -p "$XDG_RUNTIME_DIR" "$XDG_DATA_HOME/keyrings"
    chmod 700 "$XDG_RUNTIME_DIR"
    # The bus says that it cannot raise its file limit, which does not matter.
    exec dbus-run-session -- "$0" --inside "$@" 2> >(grep -v 'set fd limit' >&2)
fi
shift
printf benchmark | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null 2>&1
# A client that comes before the daemon owns its name would start a second one, which is locked.
until gdbus call --session -d org.freedesktop.DBus -o / -m org.freedesktop.DBus.NameHasOwner \
    org.freedesktop.secrets | grep -q true; do sleep 0.02; done
"$@"
