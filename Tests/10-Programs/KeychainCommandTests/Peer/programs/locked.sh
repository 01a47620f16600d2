#!/usr/bin/env bash
# What each client does while the vault is locked: it gives no secret, deletes nothing, and does not hang.
. "$(dirname "$0")/lib.sh"
takes socket bus
needs_libsecret_helper
needs libsecret-tools command -v secret-tool
needs golang-docker-credential-helpers command -v docker-credential-secretservice
needs python3-keyring test -x /usr/bin/keyring
needs dbus-daemon command -v dbus-daemon
begin
build_libsecret_helper
open_vault
export PYTHON_KEYRING_BACKEND=keyring.backends.SecretService.Keyring

address='protocol=https\nhost=git.example.org\nusername=u\n'
login='{"ServerURL":"https://registry.example.org","Username":"u","Secret":"swordfish"}'
printf swordfish | secret-tool store --label=L a 1
echo swordfish | /usr/bin/keyring set service user
echo "$login" | docker-credential-secretservice store
printf "${address}password=swordfish\n" | git-credential-libsecret store
echo "$login" | docker-credential-keychain store
printf "${address}password=swordfish\n\n" | git-credential-keychain store
check 'the items are stored' "$(keychain list | wc -l) $(keychain internet list | wc -l)" '4 2'
lock

# refused LEAST STATUSES INPUT COMMAND…: runs a program that cannot have what it wants.
#
# A program that asks to unlock the vault waits 3 seconds for somebody who does that (--unlock-wait of lib.sh). If it
# asks again soon after that, it is refused at once. LEAST is the least time in seconds that it takes: how much longer
# it takes depends on the machine.
refused() {
    local least=$1 statuses=$2 input=$3 begun output status milliseconds
    shift 3
    begun=$(date +%s%N)
    output=$(printf "$input" | timeout $patience "$@" 2>&1)
    status=$?
    milliseconds=$((($(date +%s%N) - begun) / 1000000))
    check "$* ($status) has an expected status" "$([[ " $statuses " == *" $status "* ]]; echo $?)" 0
    check "$* gives no secret" "$(grep -c swordfish <<<"$output")" 0
    ((least == 0)) || check "$* waits for the unlock" "$((milliseconds >= 1000 * least))" 1
}

refused 3 1 '' secret-tool lookup a 1
refused 0 1 other secret-tool store --label=M b 2
refused 0 '0 1' '' secret-tool search --all a 1
refused 0 '0 1' '' secret-tool search --unlock --all a 1
refused 0 1 '' secret-tool clear a 1

refused 3 1 '' /usr/bin/keyring get service user
refused 0 1 'other\n' /usr/bin/keyring set service another
refused 0 1 '' /usr/bin/keyring del service user

# Version 0.6.4 of this program crashes with status 2 because there is no secret, with gnome-keyring as well.
refused 3 '1 2' 'https://registry.example.org' docker-credential-secretservice get
refused 0 '0 1' '' docker-credential-secretservice list
refused 0 1 "${login/registry/other}" docker-credential-secretservice store
refused 0 '0 1' 'https://registry.example.org' docker-credential-secretservice erase

refused 3 '0 1' "$address" git-credential-libsecret get
refused 0 '0 1' "${address/git/other}password=other\n" git-credential-libsecret store
refused 0 '0 1' "$address" git-credential-libsecret erase

# Our own helpers ask at the terminal. Without one they fail at once.
refused 0 '1 36' "$address" setsid --wait git-credential-keychain get
refused 0 1 'https://registry.example.org' setsid --wait docker-credential-keychain get
refused 0 1 '' setsid --wait docker-credential-keychain list
check 'none of our helpers waits' "$(grep -c 'credential-keychain .* waits for' daemon.log)" 0
check 'the daemon says which programs wait' "$(grep -o 'program=[^ ]* .* waits for' daemon.log | wc -l)" 4

unlock
check 'all items are still there' "$(keychain list | wc -l) $(keychain internet list | wc -l)" '4 2'
check 'the secret is the same' "$(secret-tool lookup a 1)" swordfish
finish
