#!/bin/bash
# Measures what `keychain run --mask` adds to a program that prints much, against sed, which looks for one text line by line, and
# prints Markdown.
#
#   mask.sh [ROUNDS] [MEGABYTES]
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-5}
megabytes=${2:-256}

read -ra release < <(Scripts/install/release-flags.sh)
swift build "${release[@]}" --product keychain >&2
keychain=$(swift build "${release[@]}" --show-bin-path)/keychain

work=$(mktemp -d /dev/shm/keychain-mask-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
export KEYCHAIN_HOME=$work/vault
secret=$(openssl rand -base64 24 | tr -d '/+=')
printf %s "$secret" | "$keychain" set bench mask
# Lines as logs have them, and the secret in every thousandth.
head -c $((megabytes * 3 << 18)) /dev/urandom | base64 -w 100 \
    | awk -v secret="$secret" 'NR % 1000 == 0 { $0 = $0 secret } { print }' >"$work/log"

# Seconds of one run, after which nothing of the secret may be left.
timed() {
    local start=$EPOCHREALTIME
    "$@" >"$work/out"
    echo "$start $EPOCHREALTIME" | awk '{ printf "%f\n", $2 - $1 }'
    if grep -qF "$secret" "$work/out"; then
        echo "mask.sh: the secret was printed" >&2
        exit 1
    fi
}
masked() { "$keychain" run --mask --env TOKEN=keychain://bench/mask -- cat "$work/log"; }
replaced() { cat "$work/log" | sed "s/$secret/********/g"; }
for ((round = 0; round < rounds; round++)); do
    timed masked >>"$work/masked"
    timed replaced >>"$work/replaced"
done
median() { sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
awk -v ours="$(median "$work/masked")" -v peer="$(median "$work/replaced")" -v size="$megabytes" 'BEGIN {
    print "| what | MiB/s | ratio |"
    print "|---|---|---|"
    printf "| `keychain run --mask` of `cat` | %.0f | %.1f |\n", size / ours, peer / ours
    printf "| `cat` into `sed s/…/…/g` | %.0f | 1 |\n", size / peer
}'
