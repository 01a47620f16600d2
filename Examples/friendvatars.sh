#!/usr/bin/env bash
# Builds Friendvatars and serves it until it is told to end. What it keeps is in $FRIENDVATARS_DATA, else in
# ~/.local/share/friendvatars.
#
#   Examples/friendvatars.sh                 at https://localhost:8443/, for this machine alone
#   Examples/friendvatars.sh --port 9443     all options: Examples/friendvatars.sh --help
set -euo pipefail
cd "$(dirname "$0")/.."
# The package is a consumer; it builds as anybody would.
unset KEYCHAIN_WARNINGS

data=${FRIENDVATARS_DATA:-${XDG_DATA_HOME:-$HOME/.local/share}/friendvatars}
scratch=$PWD/.build-friendvatars
# The order of a package's traits in the compiler's arguments is that of a hash table: another one compiles all anew. Not for the server
# itself, which strangers can send keys.
build=(env SWIFT_DETERMINISTIC_HASHING=1 swift build --package-path Examples/Friendvatars --scratch-path "$scratch"
    -debug-info-format none)
server=$scratch/debug/friendvatars
# Who asks for the options waits for no build.
for word in "$@"; do
    if [[ $word == --help || $word == -h ]]; then
        [[ ! -x $server ]] || exec "$server" --help
        echo 'The options are in Examples/Friendvatars/README.md, and in --help once the program is built.'
        exit 0
    fi
done
echo '--> building Friendvatars: the first time takes about a quarter of an hour of two cores, later ones seconds'
# All of it at once: a build of one product removes what only the other one has, which is then compiled again.
if [[ -t 1 ]]; then
    # On a terminal the build says how far it is.
    "${build[@]}"
else
    log=$("${build[@]}" 2>&1) || {
        tail -n 40 <<<"$log" >&2
        exit 1
    }
fi
cat <<END
--> in a terminal: FRIENDVATARS_DATA=$(printf %q "$data") $(printf %q "$scratch")/debug/friendvatars-terminal help
--> Ctrl-C ends the server
END
mkdir -p "$data"
chmod 700 "$data"
exec "$server" --data "$data" "$@"
