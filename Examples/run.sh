#!/usr/bin/env bash
# Builds the example of a personal vault and runs it, and the example of mutual TLS, whose self-test runs on throw-away
# vaults: one with the software enclave and one in a TPM (swtpm, a TPM in software).
#
#   Examples/run.sh              all of them
#   Examples/run.sh vault        the personal vault
#   Examples/run.sh software     mutual TLS, with one of the enclaves
#   Examples/run.sh tpm2
set -euo pipefail
cd "$(dirname "$0")/.."
# The package is a consumer; it builds as anybody would.
unset KEYCHAIN_WARNINGS KEYCHAIN_SOCKET KEYCHAIN_MODE KEYCHAIN_ACCESS_GROUPS

fail() {
    printf 'example: %s\n' "$1" >&2
    exit 1
}

parts=("$@")
((${#parts[@]})) || parts=(vault software tpm2)
enclaves=()
for part in "${parts[@]}"; do
    [[ $part == vault ]] || enclaves+=("$part")
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/keychain-example.XXXXXX")
tpm=
stop() {
    [[ -n ${1-} ]] && kill "$1" 2>/dev/null || true
}
clean_up() {
    stop "${SERVER_PID-}"
    stop "$tpm"
    rm -rf "$folder"
}
trap clean_up EXIT

# build PACKAGE PRODUCT SCRATCH: a cached plan does not notice that files came and went in the package that the examples
# depend on by path.
build() {
    local options=(--package-path "Examples/$1" --scratch-path "$3" --disable-build-manifest-caching
        -debug-info-format none --product "$2")
    echo "--> building $2 (the first time takes some minutes)"
    # On a terminal the build says how far it is.
    if [[ -t 1 ]]; then
        swift build "${options[@]}" || fail "$2 does not build"
    else
        swift build "${options[@]}" >"$folder/log" 2>&1 || {
            tail -n 40 "$folder/log" >&2
            fail "$2 does not build"
        }
    fi
}

if [[ ${#enclaves[@]} -lt ${#parts[@]} ]]; then
    build PersonalVault PersonalVault "$PWD/.build-example-vault"
    TMPDIR=$folder timeout 120 "$PWD/.build-example-vault/debug/PersonalVault"
fi
((${#enclaves[@]})) || exit 0

scratch=$PWD/.build-example
begin=$SECONDS
# In one build folder, the command and the example share the modules of the keychain.
for product in MutualTLS keychain; do build MutualTLS "$product" "$scratch"; done
echo "    built in $((SECONDS - begin)) s"
# swift-certificates, NIO and others ask for these modules of Apple's and would compile against ours.
for name in Security CryptoKit LocalAuthentication; do
    found=$(find "$scratch/debug/" -name "$name.swiftmodule" -o -path "*/$name.build/*.o")
    [[ -z $found ]] || fail "a module named $name was built: $found"
done
programs=$scratch/debug

# start_tpm NAME: a TPM that nobody has used, in the place of the one before.
start_tpm() {
    stop "$tpm"
    mkdir -p "$folder/$1"
    # It returns when the sockets are there; the library that speaks to it expects the second name.
    swtpm socket --tpm2 --tpmstate dir="$folder/$1" --daemon --pid file="$folder/$1/pid" \
        --server type=unixio,path="$folder/$1/socket" --ctrl type=unixio,path="$folder/$1/socket.ctrl" \
        --flags not-need-init,startup-clear
    tpm=$(<"$folder/$1/pid")
    export KEYCHAIN_TPM=swtpm:path=$folder/$1/socket
}

# Server and client as two programs, and OpenSSL as a third, which shares no code with them.
two_programs() {
    local line port said
    "$programs/MutualTLS" request server | openssl req -verify -noout 2>"$folder/log" || true
    grep -q 'verify OK' "$folder/log" || fail "OpenSSL does not accept the request: $(<"$folder/log")"
    "$programs/MutualTLS" authority >"$folder/authority.pem"
    coproc SERVER { exec "$programs/MutualTLS" server 0; }
    read -r -t 30 line <&"${SERVER[0]}" || fail 'the server does not listen'
    port=${line##*:}
    "$programs/MutualTLS" client "$port" 'from another program'
    read -r -t 30 line <&"${SERVER[0]}" || fail 'the server does not say whom it served'
    [[ $line == 'served CN=client, '* ]] || fail "the server says: $line"
    # It has no certificate to show, and ends with an error after it has verified the server.
    said=$(timeout 30 openssl s_client -connect "127.0.0.1:$port" -CAfile "$folder/authority.pem" \
        -verify_hostname localhost -verify_return_error </dev/null 2>&1) || true
    [[ $said == *'Verify return code: 0 (ok)'* ]] || fail "OpenSSL does not accept the server: $said"
    read -r -t 30 line <&"${SERVER[0]}" || fail 'the server says nothing of OpenSSL'
    [[ $line == 'refused: '*PEER_DID_NOT_RETURN_A_CERTIFICATE* ]] || fail "the server says: $line"
    stop "$SERVER_PID"
    wait "$SERVER_PID" 2>/dev/null || true
    echo 'ok  OpenSSL accepts request and server; the server serves the client and refuses OpenSSL'
}

for enclave in "${enclaves[@]}"; do
    echo "--> a vault with the enclave $enclave"
    if [[ $enclave == tpm2 ]]; then
        command -v swtpm >/dev/null || fail 'swtpm is not installed; run Scripts/install/setup.sh --example'
        start_tpm tpm
    fi
    export KEYCHAIN_HOME=$folder/vault-$enclave
    "$programs/keychain" init --enclave "$enclave" >"$folder/log" || fail "keychain init: $(<"$folder/log")"
    "$programs/keychain" status
    # The first run makes keys and certificates, the second finds them.
    timeout 120 "$programs/MutualTLS" self-test
    timeout 120 "$programs/MutualTLS" self-test >"$folder/log" || fail "the second time: $(tail -n 3 "$folder/log")"
    echo 'ok  the same again with the keys and certificates that are there'
    two_programs
    if [[ $enclave == tpm2 ]]; then
        start_tpm other-tpm
        if timeout 120 "$programs/MutualTLS" self-test >"$folder/log" 2>&1; then
            fail 'the keys work with another TPM'
        fi
        said=$("$programs/keychain" list 2>&1) || true
        [[ $said == *'another TPM'* ]] || fail "with another TPM: $said"
        echo "ok  with another TPM: $said"
    fi
done
