# Sourced by the scripts of this folder. Each of them tries one program of others, unmodified, with the keychain:
#
#   NAME.sh PLACE
#
# PLACE is how the program reaches the vault: `socket` is a keychaind whose own socket the program takes for its session
# bus, `bus` is a keychaind on a real session bus, and `embedded` is no daemon at all.
#
# A script works in a new folder, with a HOME of its own, and ends what it starts. `keychain` and its other names have
# to be on the PATH. The script prints a line for each expectation, and its status is 0 only if all of them hold.
set -uo pipefail
umask 077

# How long a program may take for one step, in seconds. Nothing that works takes so long, even on a busy machine.
patience=100
place=${1-}
missing=()
started=()
failed=0

# takes PLACE…: ends the script with its usage if it was started for another place.
takes() {
    local known
    for known in "$@"; do
        [[ $place != "$known" ]] || return 0
    done
    printf 'usage: %s %s\n' "$(basename "$0")" "$(IFS='|' && echo "$*")" >&2
    exit 64
}

# needs PACKAGE COMMAND…: notes that a Debian package is missing if the command fails.
needs() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

# Makes the folder, or ends the script if something is missing.
begin() {
    needs 'keychain (this package)' command -v keychain
    needs python3 test -x /usr/bin/python3
    if ((${#missing[@]} > 0)); then
        printf 'missing: %s\n' "${missing[@]}" >&2
        echo 'These are names of Debian packages. Scripts/install/setup.sh --peers installs them.' >&2
        exit 1
    fi
    work=$(mktemp -d "${TMPDIR:-/tmp}/keychain-peer.XXXXXX") || exit 1
    trap end EXIT
    # A shell that a signal ends has to run the trap above, too.
    trap 'exit 143' TERM
    trap 'exit 130' INT
    mkdir "$work/home" "$work/runtime" "$work/run"
    export HOME=$work/home XDG_RUNTIME_DIR=$work/runtime LC_ALL=C.UTF-8
    unset KEYCHAIN_HOME KEYCHAIN_SOCKET KEYCHAIN_MODE DISPLAY WAYLAND_DISPLAY
    unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_CACHE_HOME
    # Nothing here needs a screen reader or stored settings; a program of GTK would start services for both.
    export NO_AT_BRIDGE=1 GTK_A11Y=none GSETTINGS_BACKEND=memory
    cd "$work" || exit 1
}

# Ends what was started, the last first: a program before the bus that it uses.
end() {
    local index
    for ((index = ${#started[@]} - 1; index >= 0; index--)); do
        kill "${started[index]}" 2>/dev/null
        wait "${started[index]}" 2>/dev/null
    done
    rm -rf "$work"
}

# start COMMAND…: runs it in the background. It ends with the script.
start() {
    "$@" &
    started+=($!)
}

# poll COMMAND…: waits until the command succeeds.
poll() {
    local stop=$((SECONDS + patience))
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= stop)); then
            echo "FAILED: this never happened: $*"
            failed=1
            finish
        fi
        sleep 0.1
    done
}

# check WHAT GOT WANTED
check() {
    if [[ $2 == "$3" ]]; then
        echo "ok: $1"
    else
        echo "FAILED: $1: it is '$2', and should be '$3'"
        failed=1
    fi
}

# The end of each script. After a failure it shows the ends of the logs.
finish() {
    local log
    if ((failed)); then
        for log in "$work"/*.log; do
            [[ ! -s $log ]] || printf -- '--- %s\n%s\n' "$(basename "$log")" "$(tail -n 20 "$log" | cut -c 1-300)"
        done >&2
    fi
    exit "$failed"
}

# serve_python FILE: starts a server written in Python, which writes its port to the file `port`. Sets `port`.
serve_python() {
    start /usr/bin/python3 "$1"
    poll test -s port
    port=$(cat port)
}

# A session bus. It starts no services of the system: those would outlive the script.
start_bus() {
    cat >bus.conf <<END
<busconfig>
  <type>session</type>
  <listen>unix:path=$work/session-bus</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
END
    export DBUS_SESSION_BUS_ADDRESS=unix:path=$work/session-bus
    start dbus-daemon --nofork --config-file="$work/bus.conf" 2>bus.log
    poll test -S session-bus
}

# A screen that nobody sees.
start_display() {
    start Xvfb -displayfd 5 -screen 0 1000x700x24 -nolisten tcp 5>display 2>xvfb.log
    poll grep -q . display
    DISPLAY=:$(cat display)
    export DISPLAY GDK_BACKEND=x11 QT_QPA_PLATFORM=xcb
}

# Makes the vault reachable at the place of this script.
open_vault() {
    if [[ $place == embedded ]]; then
        export KEYCHAIN_HOME=$work/vault
        return
    fi
    local options=(--secret-service)
    export KEYCHAIN_SOCKET=$work/run/socket DBUS_SESSION_BUS_ADDRESS=unix:path=$work/run/bus
    if [[ $place == bus ]]; then
        options+=(--session-bus)
        start_bus
    fi
    # The programs of one user share their items, and may lock the vault.
    cat >entitlements.json <<END
{"version": 1, "rules": [{"uid": $(id -u), "groups": ["secret-service"], "rights": ["list", "unlock"]}]}
END
    start keychaind --socket "$KEYCHAIN_SOCKET" --home "$work/vault" --entitlements "$work/entitlements.json" \
        --no-lock-signals --unlock-wait 3 "${options[@]}" "$@" 2>>daemon.log
    poll keychain list
}

# Locks the vault, which has a passcode from then on.
lock() {
    if [[ ! -e passcode ]]; then
        echo 'long enough' >passcode
        keychain passcode set --new-passcode-fd 3 3<passcode >/dev/null 2>&1
    fi
    keychain lock
}

unlock() {
    keychain unlock --passcode-fd 3 3<"$work/passcode"
}

# What git's helper for libsecret needs. Debian 12 has only its source.
needs_libsecret_helper() {
    libsecret_source=/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c
    needs "git (with $libsecret_source)" test -e "$libsecret_source"
    needs gcc command -v gcc
    needs 'pkg-config libsecret-1-dev' pkg-config --exists libsecret-1
}

# Builds that helper, and puts it on the PATH.
build_libsecret_helper() {
    local flags
    read -ra flags < <(pkg-config --cflags --libs libsecret-1 glib-2.0)
    mkdir tools
    if ! gcc -O1 -w "$libsecret_source" -o tools/git-credential-libsecret "${flags[@]}"; then
        echo 'FAILED: the helper of git for libsecret does not build'
        exit 1
    fi
    export PATH=$work/tools:$PATH
}
