#!/usr/bin/env bash
# KWallet, KDE's keyring: `keychain import secret-service` takes over what it has.
. "$(dirname "$0")/lib.sh"
takes embedded

wallet_daemon() {
    compgen -c kwalletd | grep -xE 'kwalletd[56]' | sort | tail -n 1 | grep .
}

needs 'kwalletd6 or kwalletd5 (Debian: libkf6wallet-bin or libkf5wallet-bin)' wallet_daemon
needs xvfb command -v Xvfb
needs libsecret-tools command -v secret-tool
needs dbus-daemon command -v dbus-daemon
needs systemd command -v busctl
begin
start_display
start_bus
open_vault

mkdir "$HOME/.config"
cat >"$HOME/.config/kwalletrc" <<'END'
[Wallet]
First Use=false
Enabled=true
Prompt on Open=false
Close When Idle=false
Default Wallet=kdewallet
[org.freedesktop.secrets]
apiEnabled=true
END

name=$(wallet_daemon)

# ask METHOD ARGUMENT…: calls a method of KWallet.
ask() {
    busctl --user --address="$DBUS_SESSION_BUS_ADDRESS" call "org.kde.$name" "/modules/$name" org.kde.KWallet "$@"
}

is_open() {
    ask isOpen s kdewallet | grep -q true
}

# Starts KWallet, and opens the wallet with a key of 56 bytes, as its module of PAM does at a login. So no window asks.
open_wallet() {
    local key
    read -ra key < <(printf '7 %.0s' {1..56})
    start "$name" >>kwalletd.log 2>&1
    wallets=$!
    poll busctl --user --address="$DBUS_SESSION_BUS_ADDRESS" status org.freedesktop.secrets
    ask pamOpen sayi kdewallet 56 "${key[@]}" 0
    poll is_open
}

# The first time makes the wallet. Only a wallet that is there at the start is the default of the Secret Service.
open_wallet
kill "$wallets"
wait "$wallets"
open_wallet

# store SECRET ARGUMENT…
store() {
    printf "$1" | timeout $patience secret-tool store "${@:2}" 2>>kwalletd.log
}

store swordfish --label='Mail of Alice' server mail.example.org user alice
check 'KWallet stores an item' $? 0
store 'two\nlines' --label='Other ü' k ü
check 'KWallet stores another item' $? 0
check 'KWallet finds the first' "$(timeout $patience secret-tool lookup user alice)" swordfish

first=$(timeout $patience keychain import secret-service 2>>import.log)
check 'status of the import' $? 0
check 'everything is taken' "$(grep -o '2 items: 2 stored.*' <<<"$first")" '2 items: 2 stored, 0 were there already'
second=$(timeout $patience keychain import secret-service 2>>import.log)
check 'again, nothing is left to take' "$(grep -o '2 items: 0 stored.*' <<<"$second")" \
    '2 items: 0 stored, 2 were there already'

# ours ARGUMENT…: asks our Secret Service.
ours() {
    timeout $patience keychain run --secret-service -- secret-tool "$@" 2>&1
}

check 'the keychain has the first secret' "$(ours lookup user alice)" swordfish
check 'the keychain has the second secret' "$(ours lookup k ü)" $'two\nlines'
check 'the label is the same' "$(ours search --all user alice | grep '^label')" 'label = Mail of Alice'
finish
