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
        printf '\ntest: %s FAILED\n' "$name" >&2
        exit 1
    fi
    summary+=("$(printf '%-28s %5d s' "$name" $((SECONDS - begin)))")
}

unit_tests() {
    swift test --disable-xctest
}

step 'set-up' Scripts/setup.sh --tests
step 'format' Scripts/format.sh --check
step 'build, warnings are errors' swift build --build-tests
step 'tests' unit_tests
closing=$(grep -aE 'Test run with [0-9]+ tests? .*passed' "$logs/step" | tail -1) ||
    { echo 'test: the test runner printed no closing line' >&2; exit 1; }
if [[ $closing =~ with\ 0\ tests ]]; then
    echo 'test: no test ran' >&2
    exit 1
fi
step 'conformance' swift run --skip-build keychain-conformance Tests/Conformance/Cases/*.json
step 'names' Scripts/check-names.sh

printf '\n==> all checks passed\n'
printf '    %s\n' "${summary[@]}"
printf '%s\n' "$closing"
