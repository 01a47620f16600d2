#!/usr/bin/env bash
# Checks the package for Debian and the container image, which `make deb image` has made. It needs root, and Debian's
# archive for the first run.
#
#   Scripts/check/packages.sh PROGRAMS          all of these
#   Scripts/check/packages.sh PROGRAMS content  what the package has in it
#   Scripts/check/packages.sh PROGRAMS life     a life with it on Debian 12 and 13
#   Scripts/check/packages.sh PROGRAMS image    the image
#
# PROGRAMS is the folder where the programs were built.
set -euo pipefail
cd "$(dirname "$0")/../.."
programs=$(realpath "$1")
what=${2:-all}
((EUID == 0)) || { echo 'packages: run this as root: it mounts file systems and starts machines' >&2; exit 1; }
packages=.build-packages
# Trees of Debian, which take a minute each to make. Root starts programs from them, so only root may write there: in a
# temporary folder, another user could have made them before.
cache=/var/cache/keychain-packages
place=$(mktemp -d "${TMPDIR:-/tmp}/keychain-packages.XXXXXX")
machine=
count=0
clean_up() {
    [[ -z $machine ]] || kill "$machine" 2>/dev/null || true
    wait
    for mounted in "$place"/*/root "$place"/*/; do ! mountpoint -q "$mounted" || umount -l "$mounted"; done
    rm -rf "$place"
}
trap clean_up EXIT

fail() {
    printf 'packages: %s\n' "$1" >&2
    shift
    (($# == 0)) || printf '    %s\n' "$@" >&2
    exit 1
}
# is WHAT WANTED FOUND
is() {
    [[ $2 == "$3" ]] || fail "$1" "wanted: $2" "found:  $3"
    printf 'ok  %s\n' "$1"
    count=$((count + 1))
}

version=$(Scripts/install/version.sh)
package=$packages/swift-keychain_${version}_$(dpkg --print-architecture).deb
network_package=$packages/swift-keychain-network_${version}_$(dpkg --print-architecture).deb

# What the package has in it.
content() {
    local tree=$place/content
    dpkg-deb -x "$package" "$tree"
    dpkg-deb -x "$network_package" "$tree"
    is 'lintian has nothing to say' '' \
        "$(lintian --allow-root --fail-on none --tag-display-limit 0 "$package" "$network_package" 2>&1)"
    (cd "$packages" && sha256sum --quiet -c "${package##*/}.sha256" "${network_package##*/}.sha256") || fail 'the sums are right'
    is 'the programs that speak to the network are in a package of their own' '/usr/bin/keychain-broker /usr/bin/keychain-sync' \
        "$(dpkg-deb -c "$network_package" | awk '$6 ~ /bin\/./ { print substr($6, 2) }' | sort | xargs)"
    is 'no program changes its user' '' "$(find "$tree" -perm /7000)"
    is 'nobody but root writes a file' '' "$(find "$tree" ! -type l -perm /022)"
    is 'all belongs to root' '' "$(dpkg-deb -c "$package" | awk '$2 != "root/root"')"
    is 'the folder of the build is in no file' '' "$(grep -rlaF -e "$PWD" "$tree")"
    is 'no library is looked for beside the programs' '' \
        "$(readelf -d "$tree/usr/bin/keychain" "$tree"/usr/lib/*/pkcs11/*.so | grep -E 'RPATH|RUNPATH')"
    # At the time of the package, since somebody may have made a commit after it.
    local changelog=$tree/usr/share/doc/swift-keychain/changelog.gz
    SOURCE_DATE_EPOCH=$(date -d "$(zcat "$changelog" | sed -n 's/^ -- .*>  //p')" +%s) \
        Scripts/install/debian.sh "$programs" "$place/again" >/dev/null
    is 'made again, it has the same bytes' "$(sha256sum <"$package")" "$(sha256sum <"$place/again/${package##*/}")"
}

# tree SUITE : a tree of Debian with systemd, and no Swift.
tree() {
    local suite=$1
    # The other program of this name is there, and what the tests look with.
    local include=systemd,systemd-sysv,dbus,libpam-systemd,gnutls-bin,ca-certificates,libsodium23,libsqlite3-0,keychain
    local target=$cache/$suite
    if [[ ! -e $target.made || $(cat "$target.made") != "$include" ]]; then
        rm -rf "$target" "$target.made"
        mkdir -p -m 700 "$cache"
        mmdebstrap --quiet --mode=root --variant=minbase --include="$include" "$suite" "$target" >&2
        echo "$include" >"$target.made"
    fi
    echo "$target"
}

# A machine of one release takes the package through its life. What it changes is in memory, and gone afterwards.
life() {
    local suite=$1 older=$2 lower root=$place/$1/root result
    lower=$(tree "$suite")
    mkdir -p "$place/$suite"
    # As large as leaves a full disk possible.
    mount -t tmpfs -o size=600m keychain "$place/$suite"
    mkdir "$place/$suite"/{upper,work,root}
    mount -t overlay keychain -o "lowerdir=$lower,upperdir=$place/$suite/upper,workdir=$place/$suite/work" "$root"
    [[ -z $(chroot "$root" sh -c 'command -v swift') ]] || fail "there is Swift in the tree of $suite"
    cp "$package" "$root/root/new.deb"
    cp "$older" "$root/root/old.deb"
    cp Scripts/check/packages-machine.sh "$root/root/machine.sh"
    cat >"$root/etc/systemd/system/life.service" <<'END'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash -c '/root/machine.sh /root/old.deb /root/new.deb >/root/result 2>&1'
ExecStopPost=/usr/bin/systemctl --no-block --force poweroff
TimeoutStartSec=900
[Install]
WantedBy=default.target
END
    systemctl --root="$root" --quiet enable life.service
    # Without systemd nobody here could make a unit for the machine.
    local unit=(--register=no)
    [[ -d /run/systemd/system ]] || unit+=(--keep-unit)
    timeout --kill-after 10 1000 systemd-nspawn --quiet "${unit[@]}" --private-network \
        --system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self" \
        --machine="keychain-$suite" --directory="$root" --boot >"$place/$suite.console" 2>&1 </dev/null &
    machine=$!
    wait "$machine" || true
    machine=
    result=$(cat "$root/root/result" 2>/dev/null || tail -n 40 "$place/$suite.console")
    umount -l "$root" "$place/$suite"
    sed "s/^/$suite: /" <<<"$result"
    [[ $result =~ machine:\ ([0-9]+)\ checks\ passed$ ]] || fail "the package fails on $suite"
    count=$((count + BASH_REMATCH[1]))
}

[[ -e $package ]] || fail "there is no $package: make deb"
if [[ $what == all || $what == content ]]; then content; fi
if [[ $what == all || $what == life ]]; then
    # The same as a version before.
    dpkg-deb --raw-extract "$package" "$place/former"
    sed -i 's/^Version: .*/Version: 0.0.1/' "$place/former/DEBIAN/control"
    dpkg-deb -Znone --root-owner-group --build "$place/former" "$place/older.deb" >/dev/null
    for suite in bookworm trixie; do life "$suite" "$place/older.deb"; done
fi
if [[ $what == all || $what == image ]]; then
    Scripts/check/packages-image.sh "$packages/keychain-$version.docker.tar" | tee "$place/image"
    [[ $(tail -n 1 "$place/image") =~ ^image:\ ([0-9]+)\ checks ]]
    count=$((count + BASH_REMATCH[1]))
fi
echo "packages: $count checks passed"
