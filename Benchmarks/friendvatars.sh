#!/bin/bash
# Measures Friendvatars against the same page of a bare Hummingbird app, and sign-ins against the hashes that the machine can check,
# and prints Markdown. Needs wrk.
#
#   friendvatars.sh [ROUNDS] [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-5}
seconds=${2:-10}
people=1000
friends=20
connections=32

options=(-c release -debug-info-format none --package-path Examples/Friendvatars --scratch-path .build-friendvatars)
# All at once: a build of one product removes what only others have.
swift build "${options[@]}" >&2
bin=$(swift build "${options[@]}" --show-bin-path)

work=$(mktemp -d "${TMPDIR:-/tmp}/friendvatars-bench.XXXXXX")
pids=()
finish() {
    ((${#pids[@]} == 0)) || kill "${pids[@]}" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
unset KEYCHAIN_HOME KEYCHAIN_MODE KEYCHAIN_SOCKET

"$bin/friendvatars-terminal" seed --data "$work/data" --users "$people" --friends "$friends" --cheap-passwords --json >"$work/seed"
# Without TLS on both sides: what is measured is the page.
"$bin/friendvatars" --data "$work/data" --plain --port 0 --avatars none >"$work/log" &
pids+=($!)
until grep -q 'What it keeps' "$work/log"; do sleep 0.1; done
address=$(grep -o 'http://[^/]*' "$work/log")
bare=http://127.0.0.1:18099
"$bin/friendvatars-bare" serve --port 18099 --friends "$friends" &
pids+=($!)
until curl -sf "$bare/friends" -o /dev/null; do sleep 0.1; done

jar=$work/jar
# curl sends cookies that are marked as secure over TLS alone; they are put into a header by hand.
cookies() { awk '!/^# / && NF >= 7 { printf "%s%s=%s", separator, $6, $7; separator = "; " }' "$jar"; }
field() { grep -o 'form_token" value="[^"]*' | head -1 | sed 's/.*"//'; }
token=$(curl -s -c "$jar" "$address/sign-up" | field)
curl -s -c "$jar" -H "Cookie: $(cookies)" "$address/sign-up" -d "form_token=$token" --data-urlencode 'email=ada@example.com' \
    --data-urlencode 'name=Ada Lovelace' --data-urlencode 'password=violet otter climbs' -o /dev/null
session=$(grep -o '__Host-session.*' "$jar" | awk '{ print "__Host-session=" $2 }')
for ((number = 0; number < friends; number++)); do
    token=$(curl -s -H "Cookie: $session" "$address/friends" | field)
    curl -s -H "Cookie: $session" "$address/friends" -d "form_token=$token" --data-urlencode "name=Friend $number" \
        --data-urlencode "email=friend$number@example.com" -o /dev/null
done
page=$(curl -s -H "Cookie: $session" "$address/friends")
[[ $page == *'Friend 19'* ]] || { echo 'friendvatars.sh: the page is not there' >&2; exit 1; }
sizes="$(printf %s "$page" | wc -c) and $(curl -s "$bare/friends" | wc -c)"

# measure NAME URL [wrk options]: appends "requests/s p99" to a file.
measure() {
    local name=$1 url=$2 said
    shift 2
    said=$(wrk -t 1 -c "$connections" -d "${seconds}s" --latency "$@" "$url")
    [[ $said != *'Non-2xx'* ]] || { echo "friendvatars.sh: $name: $said" >&2; exit 1; }
    awk '/Requests\/sec/ { rate = $2 } /99%/ { p99 = $2 } END { print rate, p99 }' <<<"$said" >>"$work/$name"
    tail -n 1 "$work/$name" >&2
}

for ((round = 0; round < rounds; round++)); do
    measure bare "$bare/friends"
    measure page "$address/friends" -H "Cookie: $session"
done

# The same person from one page again and again: right passwords are not slowed down.
token=$(curl -s -c "$jar" "$address/sign-in" | field)
visitor=$(grep -o '__Host-visitor.*' "$jar" | awk '{ print "__Host-visitor=" $2 }')
cat >"$work/sign-in.lua" <<LUA
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
wrk.headers["Cookie"] = "$visitor"
wrk.body = "form_token=$token&email=ada%40example.com&password=violet%20otter%20climbs"
LUA
connections=4
for ((round = 0; round < rounds; round++)); do
    "$bin/friendvatars-bare" hash --seconds "$seconds" >>"$work/hash"
    measure sign-in "$address/sign-in" -s "$work/sign-in.lua"
done

python3 - "$work" "$people" "$friends" "$sizes" <<'PYTHON'
import statistics, sys
work, people, friends, sizes = sys.argv[1:]
def read(name):
    return [line.split() for line in open(f"{work}/{name}")]
def milliseconds(text):
    return float(text[:-2]) * (0.001 if text.endswith("us") else 1) if text[-2:] in ("us", "ms") else float(text[:-1]) * 1000
bare, page = read("bare"), read("page")
ratios = sorted(float(ours[0]) / float(theirs[0]) for ours, theirs in zip(page, bare))
print("| | requests/s | p99 |\n|---|---|---|")
for label, rows in (("the page of a bare app, from memory", bare), (f"the page of {friends} friends, signed in, {people} accounts", page)):
    print(f"| {label} | {statistics.median(float(row[0]) for row in rows):.0f} | {statistics.median(milliseconds(row[1]) for row in rows):.1f} ms |")
print(f"\nOf the bare app's requests: {statistics.median(ratios):.0%} (median of {len(ratios)} rounds, {ratios[0]:.0%} to {ratios[-1]:.0%}). The pages have {sizes} bytes.\n")
hashes = statistics.median(float(line) for line in open(f"{work}/hash"))
rate = statistics.median(float(row[0]) for row in read("sign-in"))
print(f"Sign-ins: {rate:.1f} a second; Argon2id alone (64 MiB, three passes, all processors): {hashes:.1f}: {rate / hashes:.0%} of what it allows.")
PYTHON
