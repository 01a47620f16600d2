#!/usr/bin/env bash
# Builds the `keychain` command and takes one secret through its life in a throw-away vault. Then an app with
# `import Security` runs, OpenSSL uses a key of the enclave, and a locked vault refuses.
set -euo pipefail
cd "$(dirname "$0")/../.."

step() { printf '\n==> %s\n' "$1"; }
fail() {
    printf 'quickstart: %s\n' "$1" >&2
    exit 1
}

step 'Checking what the build needs'
Scripts/install/setup.sh --quickstart

step 'Building the keychain command, the PKCS #11 module and an app (the first build takes a few minutes)'
build=(swift build --disable-build-manifest-caching)
"${build[@]}" --product keychain
"${build[@]}" --target PKCS11Module
products=$(swift build --show-bin-path)
# In one build folder, the app and the command share the modules.
"${build[@]}" --package-path Examples/Quickstart --scratch-path .build --product Quickstart
keychain=$products/keychain
# The daemon is the same program under another name.
ln -sf keychain "$products/keychaind"

folder=$(mktemp -d "${TMPDIR:-/tmp}/keychain-quickstart.XXXXXX")
trap 'rm -rf "$folder"' EXIT
export KEYCHAIN_HOME=$folder/vault
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

step "An app for iOS and Linux, with 'import Security': Examples/Quickstart"
"$products/Quickstart" | sed 's/^/    /'

step 'OpenSSL with a key that stays in the enclave: keychain key create web --enclave'
module=$folder/module.so
Scripts/install/pkcs11.sh "$products" "$module" >/dev/null
"$keychain" key create web --enclave
if openssl list -providers -provider pkcs11 >/dev/null 2>&1; then
    "$keychain" key pem web >"$folder/web.key"
    using=(-key "$folder/web.key")
    loading="providers = providers
[providers]
default = standard
pkcs11 = token
[standard]
activate = 1
[token]
pkcs11-module-path = $module
activate = 1"
else
    using=(-engine pkcs11 -keyform engine -key "$("$keychain" key uri web)")
    loading="engines = engines
[engines]
pkcs11 = pkcs11
[pkcs11]
engine_id = pkcs11
MODULE_PATH = $module
init = 1"
fi
printf '%s\n' 'openssl_conf = keychain' '[keychain]' "$loading" '[req]' 'distinguished_name = name' '[name]' \
    >"$folder/openssl.cnf"
# Without a daemon, the module starts the `keychain` that is on the path.
OPENSSL_CONF=$folder/openssl.cnf PATH=$products:$PATH openssl req -new "${using[@]}" -subj /CN=localhost \
    -out "$folder/web.csr" 2>"$folder/log" || fail "openssl: $(<"$folder/log")"
openssl req -in "$folder/web.csr" -noout -verify -subject 2>&1 | sed 's/^/    /'

step 'A vault with a passcode refuses while it is locked: keychain passcode set, keychain get'
printf %s "$secret" | "$keychain" set "$service" "$account"
printf 'quick brown fox and one lazy dog' | "$keychain" passcode set --new-passcode-fd 0
# Without a terminal, nobody is asked for the passcode.
if said=$(setsid --wait "$keychain" get "$service" "$account" 2>&1 </dev/null); then fail 'a locked vault gave its secret'; fi
echo "    $said"
printf 'quick brown fox and one lazy dog' | setsid --wait "$keychain" get "$service" "$account" --passcode-fd 0 | grep -qxF "$secret" ||
    fail 'with the passcode, the vault does not give its secret'
echo '    with the passcode: found'

printf '\nquickstart: one secret was stored, found, replaced and deleted, and neither it nor its account is readable on disk\n'
cat <<'END'

What was protected where:

    what              file           by what                                        can be read
    the secret        items-….db     AES-256-GCM, a key of its own, and that        while unlocked
                                     wrapped by the class key of 'when unlocked'
    service, account  items-….db     AES-256-GCM, a key from the same class key     while unlocked
    the class keys    keybag         wrapped by keys of the software enclave        with device-secret
    device secret     device-secret  mode 0600 in a folder of mode 0700             by its owner, and root

Until 'keychain passcode set', the vault had no passcode, so it was always unlocked for its owner. A copy of its files
without device-secret shows no secret and no name. A copy of the whole folder shows everything without a passcode, and
nothing with one. 'keychain init --enclave tpm2', before anything is stored, keeps the device secret in the machine's
TPM.
END
printf '\nNext, with a vault of your own in ~/.local/share/keychain:\n\n'
printf '    PATH=%q:$PATH\n    keychain help\n\n' "$products"
cat <<'END'
    an app of yours        Documentation/Use/Swift.md
    git, docker, browsers  Documentation/Use/Helpers.md
    nginx, OpenSSL, curl   Documentation/Use/PKCS11.md
    a server               Documentation/Operate/Daemon.md
END
