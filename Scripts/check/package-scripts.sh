#!/usr/bin/env bash
# Makes a package for Debian of the programs in a folder, which may be those of a debug build, and installs, upgrades,
# removes and purges it on a copy of this machine's file system in memory, as root. It takes less than a minute.
# packages.sh shows more, on machines without Swift.
#
#   Scripts/check/package-scripts.sh PROGRAMS
set -euo pipefail
cd "$(dirname "$0")/../.."
programs=$(realpath "$1")
place=$(mktemp -d "${TMPDIR:-/tmp}/keychain-package.XXXXXX")
trap 'rm -rf "$place"' EXIT

# Packing takes longer than the rest.
export KEYCHAIN_COMPRESSION=none
Scripts/install/debian.sh "$programs" "$place" >"$place/log" 2>&1 || { cat "$place/log" >&2; exit 1; }
new=$(ls "$place"/swift-keychain_*.deb)
# The same as a version before.
old=$place/old.deb
dpkg-deb --raw-extract "$new" "$place/former"
sed -i 's/^Version: .*/Version: 0.0.1/' "$place/former/DEBIAN/control"
dpkg-deb -Znone --root-owner-group --build "$place/former" "$old" >/dev/null

# In mounts that nobody else sees.
copy() {
    local place=$1 root=$1/memory/root
    set -e
    mkdir "$place/memory"
    mount -t tmpfs keychain "$place/memory"
    mkdir "$place/memory"/{upper,work,root}
    mount -t overlay keychain -o "lowerdir=/,upperdir=$place/memory/upper,workdir=$place/memory/work" "$root"
    # Without systemd's folder in /run, the scripts start and stop nothing.
    mount -t tmpfs keychain "$root/run"
    mount --rbind /proc "$root/proc"
    mount --rbind /dev "$root/dev"
    cp "$place/old.deb" "$root/run/old.deb"
    cp "$place"/swift-keychain_*.deb "$root/run/new.deb"
    cp "$place"/swift-keychain-network_*.deb "$root/run/network.deb"
    exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
        KEYCHAIN_HOME=/var/lib/keychain /bin/bash -euo pipefail -c "$(declare -f life); life"
}
# On the copy.
life() {
    local count=0 before
    is() {
        [[ $2 == "$3" ]] || { printf "package: %s\n    wanted: %s\n    found:  %s\n" "$@" >&2; exit 1; }
        count=$((count + 1))
    }
    sums() { find "$KEYCHAIN_HOME" -type f -exec sha256sum {} + | sort; }
    dpkg --install /run/old.deb >/run/log 2>&1 || { cat /run/log >&2; exit 1; }
    is "the programs are installed" "keychain keychaind" "$(cd /usr/bin; ls keychain keychaind | xargs)"
    is "the module is where Debian looks for it" 1 "$(ls /usr/lib/*/pkcs11/libkeychain-pkcs11.so | wc -l)"
    is "the user of the daemon is there" /var/lib/keychain "$(getent passwd keychain | cut -d: -f6)"
    printf "correct horse" | keychain set mail alice
    dpkg --install /run/new.deb >/run/log 2>&1 || { cat /run/log >&2; exit 1; }
    is "the upgrade keeps the vault" "correct horse" "$(keychain get mail alice)"
    dpkg --install /run/network.deb >/run/log 2>&1 || { cat /run/log >&2; exit 1; }
    is "keychain-sync has its units" 2 "$(ls /usr/lib/systemd/{system,user}/keychain-sync.service | wc -l)"
    is "keychain-broker starts" "$(keychain --version)" "$(keychain-broker --version)"
    is "keychain-sync starts" "$(keychain --version)" "$(keychain-sync --version)"
    dpkg --purge swift-keychain-network >/run/log 2>&1 || { cat /run/log >&2; exit 1; }
    is "keychain-broker is removed" "" "$(ls /usr/bin/keychain-broker 2>/dev/null || true)"
    is "keychain-sync is removed" "" "$(ls /usr/bin/keychain-sync 2>/dev/null || true)"
    before=$(sums)
    dpkg --remove swift-keychain >/run/log 2>&1 || { cat /run/log >&2; exit 1; }
    is "the programs are removed" "" "$(ls /usr/bin/keychain* /usr/lib/*/pkcs11/libkeychain* 2>/dev/null || true)"
    is "the removal keeps the vault" "$before" "$(sums)"
    dpkg --purge swift-keychain >/run/log 2>&1 || { cat /run/log >&2; exit 1; }
    is "the purge keeps the vault" "$before" "$(sums)"
    is "the purge says where it is" 1 "$(grep -c "/var/lib/keychain is kept" /run/log)"
    dpkg --install /run/new.deb >/run/log 2>&1 || { cat /run/log >&2; exit 1; }
    is "the vault opens again" "correct horse" "$(keychain get mail alice)"
    is "all files belong to root" "" "$(dpkg -L swift-keychain | while read -r file; do
        find "$file" -maxdepth 0 ! -user root
    done)"
    echo "package: $count checks passed"
}

as_root=()
((EUID == 0)) || as_root=(sudo)
"${as_root[@]}" unshare --mount bash -c "$(declare -f copy life); copy \"\$1\"" copy "$place"
