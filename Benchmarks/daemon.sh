#!/bin/bash
# Builds and measures lookups through the daemon against a bare round trip over a socket, and against gnome-keyring, in
# one run, and prints a table in Markdown.
set -euo pipefail
cd "$(dirname "$0")/.."

Benchmarks/setup-peers.sh >&2
read -ra release < <(Scripts/release-flags.sh)
swift build "${release[@]}" --product VaultBenchmark >&2
swift build "${release[@]}" --product keychaind >&2
bin=$(swift build "${release[@]}" --show-bin-path)

work=$(mktemp -d /tmp/keychain-benchmark-run.XXXXXX)
trap 'rm -rf "$work"' EXIT
compare=Benchmarks/compare
cc -O2 -Wall -o "$work/secret-service" $compare/secret-service.c $(pkg-config --cflags --libs libsecret-1)
keyrings=$work/gnome/.local/share/keyrings
mkdir -p "$keyrings"
echo login >"$keyrings/default"
/usr/bin/python3 $compare/make-keyring.py "$keyrings/login.keyring" 100 benchmark

"$bin/VaultBenchmark" fill "$work/vaults" 100
{
    for turn in 1 2 3; do
        echo -n "gnome	"
        $compare/secret-session.sh "$work/gnome" "$work/secret-service" lookup 100 5 200
        "$bin/VaultBenchmark" daemon "$work/vaults" 100
    done
} >"$work/results"
/usr/bin/python3 $compare/daemon-table.py "$work/results"
