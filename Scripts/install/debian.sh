#!/usr/bin/env bash
# Makes two packages for Debian of the built programs, and a file with the sum of each.
#
#   Scripts/install/debian.sh PROGRAMS TARGET [NETWORK]
#
# PROGRAMS is the folder where they were built, and NETWORK that of keychain-sync and keychain-broker if it is another one.
# The same programs and sources give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
programs=$(realpath "$1")
mkdir -p "$2"
target=$(realpath "$2")
network=$(realpath "${3:-$1}")
version=$(Scripts/install/version.sh)
built=$("$programs/keychain" --version)
[[ $built == "$version" ]] || {
    echo "debian: the programs are of version $built, not $version: build them again" >&2
    exit 1
}

# The times of files and of the changelog. Outside of git it has to be given.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH KEYCHAIN_SOURCE=$PWD KEYCHAIN_PROGRAMS=$programs KEYCHAIN_NETWORK=$network
export DEB_BUILD_OPTIONS='noautodbgsym nocheck' TZ=UTC LC_ALL=C.UTF-8
umask 022

place=$(mktemp -d "${TMPDIR:-/tmp}/keychain-debian.XXXXXX")
trap 'rm -rf "$place"' EXIT
tree=$place/swift-keychain
mkdir "$tree"
cp -R --preserve=mode Packaging/debian "$tree/debian"
maintainer=$(sed -n 's/^Maintainer: //p' Packaging/debian/control)
cat >"$tree/debian/changelog" <<END
swift-keychain ($version) unstable; urgency=medium

  * Version $version. The history of the project says what changed.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
# Whenever the sources were checked out.
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
# -d: what a build needs is looked for by setup.sh, and the compiler is no package.
if ! (cd "$tree" && dpkg-buildpackage --build=binary --no-sign -d) >"$place/log" 2>&1; then
    cat "$place/log" >&2
    exit 1
fi
grep -E 'warning|error' "$place/log" >&2 || true
for package in $(cd "$place" && ls ./*.deb); do
    package=${package#./}
    mv "$place/$package" "$target/$package"
    (cd "$target" && sha256sum "$package" >"$package.sha256")
    echo "$target/$package"
done
