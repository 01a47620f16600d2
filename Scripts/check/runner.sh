#!/usr/bin/env bash
# Checks Scripts/check/run-tests.py with test programs that fail in every way there is. It takes some seconds.
set -euo pipefail
cd "$(dirname "$0")"

folder=$(mktemp -d "${TMPDIR:-/tmp}/check-runner.XXXXXX")
trap 'rm -rf "$folder"' EXIT
# What the test programs start, known by a number that nobody else sleeps for.
nap=$((1000000 + $$))
count=0

fail() {
    printf 'check-runner: %s: %s\n' "$name" "$1" >&2
    sed 's/^/    /' "$folder/log" >&2
    exit 1
}

# check NAME STATUS PATTERN... -- OPTIONS... : the runner ends with STATUS, says what matches each PATTERN, and leaves nothing.
# The test program is read from standard input.
check() {
    name=$1
    local status=$2 patterns=() begin=$SECONDS ended=0
    shift 2
    while (($#)) && [[ $1 != -- ]]; do patterns+=("$1"); shift; done
    { printf '#!/bin/bash\nnap=%s\n' "$nap"; cat "$folder/prelude" -; } >"$folder/tests"
    chmod +x "$folder/tests"
    ./run-tests.py "${@:2}" --grace 1 "$folder/tests" >"$folder/log" 2>&1 || ended=$?
    ((ended == status)) || fail "it ended with $ended, not $status"
    for pattern in "${patterns[@]}"; do
        grep -aqE "$pattern" "$folder/log" || fail "it does not say '$pattern'"
    done
    nothing_left
    ((SECONDS - begin < 60)) || fail "it took $((SECONDS - begin)) s"
    count=$((count + 1))
}

is_left() {
    pgrep -f "sleep $nap" || { [[ -e $folder/place && -e $(dirname "$(cat "$folder/place")") ]] && echo folder; }
}

nothing_left() {
    local left
    left=$(is_left) || return 0
    [[ $left == folder ]] && fail 'the temporary folder is left'
    kill -9 $left
    fail "a process is left: $left"
}

# In Swift Testing's words; their order is that of a run in which one test runs after the other.
cat >"$folder/prelude" <<PRELUDE
begin() { echo "◇ Test \$1 started."; }
pass() { echo "✔ Test \$1 passed after 0.250 seconds."; }
close() { echo "✔ Test run with \$1 tests in 1 suite passed after 0.5 seconds."; }
# Until what was started in the background has its name.
started() { until pgrep -f "sleep \$nap" >/dev/null; do sleep 0.01; done; }
printf %s "\$TMPDIR" >"$folder/place"
PRELUDE

check 'all pass' 0 '^✔ Test run with 2 tests in 1 suite passed' '0\.2 s  Suite/one\(\)' <<'END'
echo '◇ Suite Suite started.'
begin 'one()'; pass 'one()'; begin 'two()'; pass 'two()'; close 2
END

check 'a test fails' 1 '^✘ Suite/two\(\):$' '^a word of it$' 'failed: Suite/two\(\)' <<'END'
echo '◇ Suite Suite started.'
begin 'one()'; pass 'one()'; begin 'two()'; echo 'a word of it'
echo '✘ Test two() recorded an issue at A.swift:1:1: no'
echo '✘ Test two() failed after 0.1 seconds with 1 issue.'
echo '✘ Test run with 2 tests in 1 suite failed after 0.5 seconds with 1 issue.'
exit 1
END

check 'no closing line' 1 'without a closing line while no test ran' <<'END'
begin 'one()'; pass 'one()'
END

check 'no test' 1 'ran no test' <<'END'
close 0
END

check 'killed' 1 'was ended by SIGKILL while two\(\) ran' "left behind, and ended now: process [0-9]+ \(sleep $nap\)" <<'END'
begin 'two()'; sleep $nap & started; kill -9 $$
END

check 'aborts' 1 'was ended by SIGABRT while two\(\) ran' "left behind, and ended now: process" <<'END'
begin 'two()'; (setsid sleep $nap &); started; kill -ABRT $$
END

check 'hangs' 1 'two\(\) has not ended for 1' "still there: process [0-9]+ \(sleep $nap\)" -- --test-bound 1 <<'END'
begin 'one()'; pass 'one()'; begin 'two()'; trap '' TERM; sleep $nap
END

check 'takes too long in all' 1 'when 1.* s were over' -- --bound 1 <<'END'
while :; do begin 'one()'; sleep 0.1; pass 'one()'; begin 'one()'; done
END

check 'leaves a process' 1 "left behind, and ended now: process [0-9]+ \(sleep $nap\)" <<'END'
begin 'one()'; (setsid sleep $nap &); started; pass 'one()'; close 1
END

check 'leaves a folder' 1 'left behind, and ended now: /tmp/keychain-run-.*/rest/kept' <<'END'
begin 'one()'; mkdir -m 000 "$TMPDIR/kept"; pass 'one()'; close 1
END

check 'two processes' 0 '^first: ✔ Test one' '^rest: ✔ Test two' '^==> 3 tests' -- --group first=^A <<'END'
[[ $* == *--filter* ]] && { begin 'one()'; pass 'one()'; close 1; exit; }
[[ $* == *'--skip ^A' ]] && { begin 'two()'; pass 'two()'; close 2; }
END

check 'a filter leaves tests for one of two' 0 '^==> 1 tests' -- --group first=^A --filter one <<'END'
[[ $* == *'(?:^A)'* ]] && { close 0; exit 69; }
begin 'one()'; pass 'one()'; close 1
END

check 'a filter leaves no tests' 1 'a process ran no test' -- --group first=^A --filter one <<'END'
close 0; exit 69
END

check 'one of two is killed' 1 'first: was ended by SIGKILL' 'rest: was ended while two' -- --group first=^A <<'END'
[[ $* == *--filter* ]] && { begin 'one()'; started; kill -9 $$; }
begin 'two()'; sleep $nap
END

# The runner itself is killed.
name='runner killed'
for signal in TERM KILL; do
    ./run-tests.py --grace 1 "$folder/tests" >"$folder/log" 2>&1 &
    runner=$!
    for _ in {1..200}; do pgrep -f "sleep $nap" >/dev/null && break; sleep 0.05; done
    kill -"$signal" "$runner"
    wait "$runner" 2>/dev/null || true
    # After SIGKILL it is the process below the runner that ends the rest, and nothing tells when.
    for _ in {1..600}; do is_left >/dev/null || break; sleep 0.05; done
    nothing_left
    count=$((count + 1))
done
echo "check-runner: $count ways to end are told apart, and nothing is left"
