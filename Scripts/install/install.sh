#!/usr/bin/env bash
# Installs the built `keychain` with its manual pages and completions, its other name `keychaind` with systemd's units,
# and the PKCS #11 module, or removes them.
#
#   Scripts/install/install.sh FOLDER PREFIX     FOLDER is where they were built
#   Scripts/install/install.sh --remove PREFIX
#   Scripts/install/install.sh --debian FOLDER PREFIX     in the folders in which Debian's programs look
#   Scripts/install/install.sh --network FOLDER PREFIX    keychain-sync with its units and keychain-broker, and nothing else
set -euo pipefail

libraries=lib
zsh=share/zsh/site-functions
if [[ $1 == --debian ]]; then
    libraries=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    zsh=share/zsh/vendor-completions
    shift
fi
prefix=$2
if [[ $1 == --network ]]; then
    prefix=$3
    for program in keychain-sync keychain-broker; do install -s -D -m 755 "$2/$program" "$prefix/bin/$program"; done
    # The program that it belongs to makes its page.
    keychain=${KEYCHAIN_PROGRAMS:-$2}/keychain
    [[ -e $keychain ]] || keychain=$prefix/bin/keychain
    if [[ -e $keychain ]]; then
        mkdir -p "$prefix/share/man/man8"
        "$2/keychain-sync" --experimental-dump-help |
            "$keychain" manual --directory "$prefix/share/man/man8" --daemon-help
    else
        echo 'keychain-sync(8) is not installed: run `make install` and then `make network` again' >&2
    fi
    for kind in system user; do
        unit=$prefix/lib/systemd/$kind/keychain-sync.service
        install -D -m 644 "Packaging/systemd/$kind/keychain-sync.service" "$unit"
        sed -i -e "s|@bindir@|${prefix#"${DESTDIR:-}"}/bin|" "$unit"
    done
    echo "installed $prefix/bin/keychain-broker, $prefix/bin/keychain-sync, and its unit for the system and for users"
    exit 0
fi
helpers=(git-credential-keychain docker-credential-keychain cargo-credential-keychain keychain-askpass keychain-browser)
completions=(
    bash "$prefix/share/bash-completion/completions/keychain"
    zsh "$prefix/$zsh/_keychain"
    fish "$prefix/share/fish/vendor_completions.d/keychain.fish"
)
manual=$prefix/share/man/man1
daemon_manual=$prefix/share/man/man8
# Where the files will be used from, which units have to name.
root=${prefix#"${DESTDIR:-}"}
# Files under Packaging, and where they are looked for under a prefix.
units=(
    systemd/user/keychaind.socket lib/systemd/user/keychaind.socket
    systemd/user/keychaind-bus.socket lib/systemd/user/keychaind-bus.socket
    dbus/org.freedesktop.impl.portal.desktop.keychain.service share/dbus-1/services/org.freedesktop.impl.portal.desktop.keychain.service
    portal/keychain.portal share/xdg-desktop-portal/portals/keychain.portal
    systemd/user/keychaind.service lib/systemd/user/keychaind.service
    systemd/user/keychain-ssh-agent.service lib/systemd/user/keychain-ssh-agent.service
    systemd/system/keychaind.socket lib/systemd/system/keychaind.socket
    systemd/system/keychaind.service lib/systemd/system/keychaind.service
    systemd/system/keychain.sysusers.conf lib/sysusers.d/keychain.conf
    p11-kit/keychain.module share/p11-kit/modules/keychain.module
)
# The module that other programs load. p11-kit reads its path from the file above.
module=$libraries/pkcs11/libkeychain-pkcs11.so

if [[ $1 == --remove ]]; then
    # Only a link to our own program goes; another `security` stays.
    if [[ $(readlink "$prefix/bin/security") == keychain ]]; then rm -f "$prefix/bin/security"; fi
    for ((i = 0; i < ${#units[@]}; i += 2)); do rm -f "$prefix/${units[i + 1]}"; done
    rm -f "$prefix/bin/keychain-broker" "$prefix/bin/keychain-sync" "$prefix"/lib/systemd/{system,user}/keychain-sync.service
    rm -f "$prefix/bin/keychain" "$prefix/bin/keychaind" "${helpers[@]/#/$prefix/bin/}" \
        "$prefix/libexec/keychain-sqlcipher" \
        "$prefix/libexec/keychain-unlock-at-login" \
        "$prefix/$module" \
        "$manual"/keychain.1 "$manual"/keychain-*.1 \
        "$daemon_manual"/keychaind.8 "$daemon_manual"/keychain-sync.8 \
        "${completions[1]}" "${completions[3]}" "${completions[5]}"
    exit 0
fi

binary=$1/keychain
# Without debug information, which is a third of the size.
install -s -D -m 755 "$binary" "$prefix/bin/keychain"
# Under this name it is the daemon. This replaces the separate program of older versions.
ln -sf keychain "$prefix/bin/keychaind"
# And under these the helper that git, docker, cargo, ssh or a browser starts.
for helper in "${helpers[@]}"; do ln -sf keychain "$prefix/bin/$helper"; done
# A program that has the former library open keeps it, because the new one is another file.
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
Scripts/install/pkcs11.sh "$1" "$built/module.so"
install -D -m 644 "$built/module.so" "$prefix/$module"
# For PAM; no login uses it until somebody adds it to a file under /etc/pam.d.
install -D -m 755 Packaging/pam/keychain-unlock-at-login "$prefix/libexec/keychain-unlock-at-login"
sed -i "s|/usr/local/libexec|$root/libexec|" "$prefix/libexec/keychain-unlock-at-login"
for ((i = 0; i < ${#units[@]}; i += 2)); do
    install -D -m 644 "Packaging/${units[i]}" "$prefix/${units[i + 1]}"
    sed -i -e "s|@bindir@|$root/bin|" -e "s|@module@|$root/$module|" "$prefix/${units[i + 1]}"
done
mkdir -p "$manual" "$daemon_manual"
"$binary" manual --directory "$manual"
(exec -a keychaind "$binary" --experimental-dump-help) | "$binary" manual --directory "$daemon_manual" --daemon-help
for ((i = 0; i < ${#completions[@]}; i += 2)); do
    mkdir -p "$(dirname "${completions[i + 1]}")"
    "$binary" --generate-completion-script "${completions[i]}" >"${completions[i + 1]}"
done
echo "installed $prefix/bin/keychain and $prefix/bin/keychaind, and for programs that use PKCS #11 $prefix/$module"
echo "restart a daemon that runs (systemctl --user restart keychaind, or systemctl restart keychaind): it goes on with the"
echo "former program, and does not take the new keychain for its owner's tool"
