#!/usr/bin/env bash
# Builds the example of mutual TLS and runs its self-test on throw-away vaults: one with the software enclave and one in
# a TPM (swtpm, a TPM in software).
#
#   Examples/run.sh              both
#   Examples/run.sh software     one of them
#   Examples/run.sh tpm2
set -euo pipefail
cd "$(dirname "$0")/.."
# The package is a consumer; it builds as anybody would.
unset KEYCHAIN_WARNINGS KEYCHAIN_SOCKET KEYCHAIN_MODE KEYCHAIN_ACCESS_GROUPS

fail() {
    printf 'example: %s\n' "$1" >&2
    exit 1
}

enclaves=("$@")
((${#enclaves[@]})) || enclaves=(software tpm2)

folder=$(mktemp -d "${TMPDIR:-/tmp}/keychain-example.XXXXXX")
tpm=
clean_up() {
    if [[ -n $tpm ]]; then kill "$tpm" 2>/dev/null || true; fi
    rm -rf "$folder"
}
trap clean_up EXIT

scratch=$PWD/.build-example
options=(--package-path Examples/MutualTLS --scratch-path "$scratch" -debug-info-format none)
echo '--> building (the first time takes some minutes)'
begin=$SECONDS
# In one build folder, the command and the example share the modules of the keychain.
for product in MutualTLS keychain; do
    swift build "${options[@]}" --product "$product" >"$folder/log" 2>&1 || {
        tail -n 40 "$folder/log" >&2
        fail "$product does not build"
    }
done
echo "    built in $((SECONDS - begin)) s"
# swift-certificates, NIO and others ask for these modules of Apple's and would compile against ours.
for name in Security CryptoKit LocalAuthentication; do
    found=$(find "$scratch/debug/" -name "$name.swiftmodule" -o -path "*/$name.build/*.o")
    [[ -z $found ]] || fail "a module named $name was built: $found"
done
programs=$scratch/debug

start_tpm() {
    mkdir "$folder/tpm"
    # It returns when the sockets are there; the library that speaks to it expects the second name.
    swtpm socket --tpm2 --tpmstate dir="$folder/tpm" --daemon --pid file="$folder/tpm.pid" \
        --server type=unixio,path="$folder/tpm.socket" --ctrl type=unixio,path="$folder/tpm.socket.ctrl" \
        --flags not-need-init,startup-clear
    tpm=$(<"$folder/tpm.pid")
    export KEYCHAIN_TPM=swtpm:path=$folder/tpm.socket
}

for enclave in "${enclaves[@]}"; do
    echo "--> a vault with the enclave $enclave"
    if [[ $enclave == tpm2 ]]; then
        command -v swtpm >/dev/null || fail 'swtpm is not installed; run Scripts/setup.sh --tests'
        start_tpm
    fi
    export KEYCHAIN_HOME=$folder/vault-$enclave
    "$programs/keychain" init --enclave "$enclave" >"$folder/log" || fail "keychain init: $(<"$folder/log")"
    "$programs/keychain" status
    # The first run makes keys and certificates, the second finds them.
    for run in first second; do
        echo "    $run run"
        timeout 120 "$programs/MutualTLS" self-test
    done
done
