#!/usr/bin/env bash
# Every check that a change has to pass, in the order in which failures are cheapest to find.
# `make test` runs it; there is no other list of checks. `make check` runs it with --fast: it stops after the tests of
# this package, of which FILTER names some.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Scripts/check/checks.sh

logs=$(mktemp -d "${TMPDIR:-/tmp}/keychain-tests.XXXXXX")
beside=
clean_up() {
    [[ -z $beside ]] || kill "$beside" 2>/dev/null || true
    wait
    rm -rf "$logs"
}
trap clean_up EXIT
summary=()

step() {
    local name=$1 begin=$SECONDS
    shift
    printf '\n==> %s\n' "$name"
    if ! "$@" 2>&1 | tee "$logs/step"; then
        explain_failure "$logs/step"
        printf '\ntest: %s FAILED\n' "$name" >&2
        exit 1
    fi
    summary+=("$(printf '%-28s %5d s' "$name" $((SECONDS - begin)))")
}

# Says again, in the last lines, what a long log says somewhere in its middle: what failed, and where the process
# crashed.
explain_failure() {
    printf '\n==> what failed\n'
    grep -aE '^✘ .*(recorded an issue|failed after)|error:|Fatal error|(C|c)rash' "$1" | head -60
    grep -aE '^[0-9]+ (\[[^]]*\] )?0?x?.* in .* at ' "$1" | head -40
}

unit_tests() {
    Scripts/check/run-tests.py "${groups[@]}" ${FILTER:+--filter "$FILTER"} "$checks/debug/swift-keychainPackageTests.xctest"
}

# The app that enables the traits, in which the modules behind them are tested.
friendvatars() {
    # Nothing that asks for Apple's names may find those that the build before made.
    forget_names
    swift build --build-tests "${flags[@]}" --package-path Examples/Friendvatars
}

friendvatars_tests() {
    exec Scripts/check/run-tests.py --group 'attacks=^FriendvatarsTests[.](Attack|Disk|Start)Tests' \
        "$checks/debug/FriendvatarsPackageTests.xctest"
}

# What was printed beside another step, and how it ended.
told() {
    cat "$logs/beside"
    return "$1"
}

closings=()
# A run that ends well says so, and says how many tests it ran: a line for each of its processes.
expect_closing_lines() {
    local lines
    mapfile -t lines < <(grep -aE '^✔ Test run with [1-9][0-9]* tests? .*passed' "$logs/step")
    ((${#lines[@]})) || { echo 'test: the test runner printed no closing line' >&2; exit 1; }
    closings+=("${lines[@]}")
}

finish() {
    printf '\n==> %s\n' "$1"
    printf '    %s\n' "${summary[@]}"
    printf '%s\n' "${closings[@]}"
    exit 0
}

step 'set-up' Scripts/install/setup.sh --tests
step 'format' Scripts/check/format.sh --check
step 'the runner of the tests' Scripts/check/runner.sh
step 'build, warnings are errors' swift build --build-tests "${flags[@]}" "${traits[@]}"
# Only the fast part can leave tests out.
[[ ${1-} == --fast ]] || unset FILTER
step 'tests' unit_tests
expect_closing_lines
# Before the build of Friendvatars replaces modules.
step 'documentation' Scripts/docs/site.py --check
[[ ${1-} != --fast ]] || finish 'the fast part of the checks passed'
# ConformanceTests runs every case; this is the program on one file of them.
step 'conformance' "$checks/debug/keychain-conformance" Tests/Whole/ConformanceTests/Cases/genp-basic.json
step 'the package for Debian' Scripts/check/package-scripts.sh "$checks/debug"
step 'Friendvatars' friendvatars
# Beside the next step, which leaves a processor idle.
friendvatars_tests >"$logs/beside" 2>&1 &
beside=$!
step 'names' Scripts/check/names.sh
ended=0
wait "$beside" || ended=$?
beside=
step 'tests of Friendvatars' told "$ended"
expect_closing_lines

finish 'all checks passed'
