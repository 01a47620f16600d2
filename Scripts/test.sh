#!/usr/bin/env bash
# Every check that a change has to pass, in the order in which failures are cheapest to find.
# `make test` runs it; there is no other list of checks.
set -euo pipefail
cd "$(dirname "$0")/.."
# Warnings in this package's own targets are errors (see Package.swift).
export KEYCHAIN_WARNINGS=error

logs=$(mktemp -d "${TMPDIR:-/tmp}/keychain-tests.XXXXXX")
trap 'rm -rf "$logs"' EXIT
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

# Says again, in the last lines, what a long log says somewhere in its middle: what failed, where
# the process crashed, and which tests were then running.
explain_failure() {
    printf '\n==> what failed\n'
    grep -aE '^✘ .*(recorded an issue|failed after)|error:|Fatal error|(C|c)rash' "$1" | head -60
    grep -aE '^[0-9]+ (\[[^]]*\] )?0?x?.* in .* at ' "$1" | head -40
    # A test that began and never ended: a crash stops the lines of all that ran at a time.
    awk '/^◇ Test .* started\.$/ { sub(/^◇ Test (case passing .* to )?/, ""); sub(/ started\.$/, ""); begun[$0]++ }
         /^[✔✘] Test .* (passed|failed) after / { sub(/^[✔✘] Test (case passing .* to )?/, "")
             sub(/ (with [0-9]+ test cases? )?(passed|failed) after .*/, ""); begun[$0]-- }
         END { for (name in begun) if (begun[name] > 0) print "never ended: " name }' "$1" | head -20
}

# A crash shows its own stack and no more: registers and the list of images would push it out of
# sight of a log that is cut to its end.
unit_tests() {
    SWIFT_BACKTRACE=enable=yes,color=no,threads=crashed,registers=none,images=none,limit=40 \
        swift test --disable-xctest
}

# The app that enables the traits, in which the modules behind them are tested.
friendvatars_tests() {
    (
        # It is a consumer of this package, and builds as anybody would; its own warnings are errors.
        unset KEYCHAIN_WARNINGS
        FRIENDVATARS_WARNINGS=error swift test --disable-xctest --disable-build-manifest-caching \
            -debug-info-format none --package-path Examples/Friendvatars --scratch-path .build-friendvatars
    )
}

closings=()
# A run that ends well says so, and says how many tests it ran.
expect_closing_line() {
    local line
    line=$(grep -aE 'Test run with [0-9]+ tests? .*passed' "$logs/step" | tail -1) ||
        { echo 'test: the test runner printed no closing line' >&2; exit 1; }
    if [[ $line =~ with\ 0\ tests ]]; then
        echo 'test: no test ran' >&2
        exit 1
    fi
    closings+=("$line")
}

step 'set-up' Scripts/setup.sh --tests
step 'format' Scripts/format.sh --check
step 'build, warnings are errors' swift build --build-tests
step 'tests' unit_tests
expect_closing_line
step 'conformance' swift run --skip-build keychain-conformance Tests/Conformance/Cases/*.json
step 'Friendvatars' friendvatars_tests
expect_closing_line
step 'names' Scripts/check-names.sh

printf '\n==> all checks passed\n'
printf '    %s\n' "${summary[@]}"
printf '%s\n' "${closings[@]}"
