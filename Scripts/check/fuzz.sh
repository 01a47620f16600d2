#!/usr/bin/env bash
# Tries bytes that are almost right on every parser of bytes that come from elsewhere, for so long each.
#
#   Scripts/check/fuzz.sh [SECONDS [TARGET...]]   600 seconds each; der pkcs12 x963 ssh-agent enclave
#                                           protected-file age items page-index ocsp crl
#                                           issuers path records exchange openssh browser
#                                           circle circle-body circle-segment
#
# Optimised code with its traps, which tries more in the same time; KEYCHAIN_FUZZ_CONFIGURATION=debug takes the other
# build. What ends a target early is left in a file, which is tried alone with KEYCHAIN_FUZZ_REPLAY. A run is repeated
# with KEYCHAIN_TEST_SEED.
set -euo pipefail
cd "$(dirname "$0")/../.."

declare -A tests=([der]=fuzzDER [pkcs12]=fuzzPKCS12 [x963]=fuzzX963 [ssh-agent]=fuzzAgent [enclave]=fuzzEnclave [protected-file]=fuzzProtectedFile [age]=fuzzAge [items]=fuzzItems [page-index]=fuzzPageIndex [ocsp]=fuzzOCSP [crl]=fuzzCRL [issuers]=fuzzIssuers [path]=fuzzPath [records]=fuzzRecords [exchange]=fuzzExchange [openssh]=fuzzOpenSSH [browser]=fuzzBrowser [circle]=fuzzCircle [circle-body]=fuzzCircleBodies [circle-segment]=fuzzSegments)
seconds=${1:-600}
targets=("${@:2}")
((${#targets[@]})) || targets=(der pkcs12 x963 ssh-agent enclave protected-file age items page-index ocsp crl issuers path records exchange openssh browser circle circle-body circle-segment)
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "fuzz: '$seconds' is no number of seconds" >&2; exit 2; }
for target in "${targets[@]}"; do
    [[ -n ${tests[$target]-} ]] || { echo "fuzz: there is no '$target'; there are ${!tests[*]}" >&2; exit 2; }
done

export KEYCHAIN_FUZZ_SECONDS=$seconds
export KEYCHAIN_FUZZ_FOLDER=${KEYCHAIN_FUZZ_FOLDER:-${TMPDIR:-/tmp}/keychain-fuzz.$$}
mkdir -p "$KEYCHAIN_FUZZ_FOLDER"
[[ ! -t 1 ]] || export KEYCHAIN_FUZZ_TERMINAL=/dev/tty
options=(-c "${KEYCHAIN_FUZZ_CONFIGURATION:-release}" -Xswiftc -enable-testing)
[[ ${options[1]} == release ]] || options=(-c debug)

swift build "${options[@]}" --build-tests
failed=0
for target in "${targets[@]}"; do
    log=$KEYCHAIN_FUZZ_FOLDER/$target.log
    if swift test "${options[@]}" --disable-xctest --skip-build --filter "/${tests[$target]}[(]" >"$log" 2>&1 &&
        grep -a "^fuzz $target: .* 0 crashes" "$log"; then
        continue
    fi
    failed=1
    tail -n 20 "$log" >&2
    input=$KEYCHAIN_FUZZ_FOLDER/fuzz-$target.input
    printf 'fuzz %s: FAILED; the output is in %s\n' "$target" "$log" >&2
    [[ ! -e $input ]] || printf 'once more: KEYCHAIN_FUZZ_REPLAY=%s swift test %s --disable-xctest --filter %s\n' \
        "$input" "${options[*]}" "${tests[$target]}" >&2
done
((failed)) || rm -rf "$KEYCHAIN_FUZZ_FOLDER"
exit "$failed"
