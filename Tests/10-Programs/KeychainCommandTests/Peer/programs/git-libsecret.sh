#!/usr/bin/env bash
# git with its own helper for libsecret: passwords are stored, replaced, found and erased.
. "$(dirname "$0")/lib.sh"
takes socket bus
needs git command -v git
needs_libsecret_helper
needs dbus-daemon command -v dbus-daemon
begin
build_libsecret_helper
open_vault

export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1 GIT_ASKPASS=
git config --global credential.helper libsecret
address=$'protocol=https\nhost=git.example.org:8443\nusername=alice\n'
nothing="fatal: could not read Password for 'https://alice@git.example.org:8443': terminal prompts disabled"

# Prints the line with the password, or git's error.
fill() {
    printf '%s\n' "$address" | timeout $patience git credential fill 2>&1 | grep -E '^(password|fatal)' | head -n 1
}

# approve PASSWORD
approve() {
    printf '%spassword=%s\n\n' "$address" "$1" | timeout $patience git credential approve
}

approve swordfish
check 'the stored password is found' "$(fill)" password=swordfish
approve herring
check 'the password is replaced' "$(fill)" password=herring
check 'there is one item' "$(keychain list --attribute server=git.example.org --attribute port=8443 | wc -l)" 1

lock
check 'git gets nothing from a locked vault' "$(fill)" "$nothing"
check 'the daemon says who waits' "$(grep -c 'git-credential-libsecret .* waits for the vault' daemon.log)" 1
unlock
check 'the password is found after the unlock' "$(fill)" password=herring

printf '%s\n\n' "$address" | timeout $patience git credential reject
check 'the password is erased' "$(fill)" "$nothing"
check 'nothing is left' "$(keychain list)" ''
finish
