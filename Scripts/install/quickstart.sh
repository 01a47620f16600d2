#!/usr/bin/env bash
# Builds the `keychain` command and takes one secret through its life in a throw-away vault.
set -euo pipefail
cd "$(dirname "$0")/../.."

step() { printf '\n==> %s\n' "$1"; }
fail() {
    printf 'quickstart: %s\n' "$1" >&2
    exit 1
}

step 'Checking what the build needs'
Scripts/install/setup.sh

step 'Building the keychain command (the first build takes a few minutes)'
swift build --product keychain
keychain=$(swift build --show-bin-path)/keychain

KEYCHAIN_HOME=$(mktemp -d "${TMPDIR:-/tmp}/keychain-quickstart.XXXXXX")
export KEYCHAIN_HOME
trap 'rm -rf "$KEYCHAIN_HOME"' EXIT
service=mail.example.org
account=alice
# Random, so that finding them on disk cannot be chance.
secret="first-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
renewed="second-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"

expect_value() {
    local found
    found=$("$keychain" get "$service" "$account")
    [[ $found == "$1" ]] || fail "keychain get gave back something else than was stored"
    echo "    found: $found"
}
# Every file of the vault, the database's write-ahead log included.
expect_unreadable() {
    local word
    for word in "$@"; do
        if grep -rlaF -- "$word" "$KEYCHAIN_HOME"; then fail "'$word' stands readable in the files above"; fi
        echo "    not in any file: $word"
    done
}

step "Storing a secret in $KEYCHAIN_HOME: keychain set $service $account"
printf %s "$secret" | "$keychain" set "$service" "$account"

step "Reading it back: keychain get $service $account"
expect_value "$secret"

step 'Listing without secrets: keychain list'
"$keychain" list

# What the summary says is what the vault says.
accessible=$("$keychain" info "$service" "$account" | awk '$1 == "accessible" { print $2 }')
status=$("$keychain" status)
[[ $accessible == when-unlocked && $status =~ enclave\ +software && $status =~ passcode\ +not\ set ]] ||
    fail "the vault is not as expected: $accessible; $status"

step 'Looking for secret, service and account in the files on disk'
ls -l "$KEYCHAIN_HOME"
[[ -n $(find "$KEYCHAIN_HOME" -type f -size +0) ]] || fail 'the vault has no files to look into'
expect_unreadable "$secret" "$service" "$account"

step "Replacing it: keychain set $service $account"
printf %s "$renewed" | "$keychain" set "$service" "$account"
expect_value "$renewed"
expect_unreadable "$secret" "$renewed" "$service" "$account"

step "Deleting it: keychain delete $service $account"
"$keychain" delete "$service" "$account"
if "$keychain" get "$service" "$account" 2>/dev/null; then fail 'the item is still there'; fi
echo '    gone'

[[ $(stat -c %a "$KEYCHAIN_HOME") == 700 && $(stat -c %a "$KEYCHAIN_HOME/device-secret") == 600 ]] ||
    fail 'the vault is open to other users'

printf '\nquickstart: stored, found, replaced and deleted one secret; neither it nor its account readable on disk\n'
cat <<'END'

What was protected where:

    what              file           by what                                        can be read
    the secret        items-….db     AES-256-GCM, a key of its own, and that        while unlocked
                                     wrapped by the class key of 'when unlocked'
    service, account  items-….db     AES-256-GCM, a key from the same class key     while unlocked
    the class keys    keybag         wrapped by keys of the software enclave        with device-secret
    device secret     device-secret  mode 0600 in a folder of mode 0700             by its owner, and root

The vault, which is gone now, had no passcode, so it was always unlocked for its owner. A copy of its files without
device-secret shows no secret and no name. A copy of the whole folder shows everything. After `keychain passcode
set`, only the passcode opens it. `keychain init --enclave tpm2`, before anything is stored, keeps the device
secret in the machine's TPM.
END
printf '\nTo go on with a vault of your own, in ~/.local/share/keychain:\n'
printf '    PATH=%q:$PATH\n    keychain help\n' "${keychain%/*}"
